import HushCore
import Testing

@Suite("The one rule of merging")
struct StandingTests {
    /// All standings with small numbers, and the one that a retract makes.
    static let some: [Standing] = [Int64(0), 1, 2, 3].flatMap { created in
        [Int64(0), 1, 2, 3, Standing.everyRevision].map { Standing(created: created, deleted: $0) }
    }

    @Test("a notification is on the screen if and only if it was created above its highest delete")
    func shown() {
        #expect(!Standing().isShown)
        #expect(Standing(created: 1).isShown)
        #expect(!Standing(created: 1, deleted: 1).isShown)
        #expect(Standing(created: 2, deleted: 1).isShown)
        #expect(!Standing(created: 2, deleted: .max).isShown)
    }

    @Test("merging commutes, associates and is idempotent")
    func join() {
        for left in Self.some {
            #expect(merged(left, left) == left)
            for right in Self.some {
                #expect(merged(left, right) == merged(right, left))
                for third in Self.some {
                    #expect(merged(merged(left, right), third) == merged(left, merged(right, third)))
                }
            }
        }
    }

    @Test("a create is heard once, and only above what was created or deleted before")
    func heard() {
        var standing = Standing()
        let heard = [1, 1, 3, 2].map { standing.create($0) }
        #expect(heard == [true, false, true, false])
        let tookAway = standing.delete(through: 4)
        #expect(tookAway)
        let heardLater = [4, 5].map { standing.create($0) }
        #expect(heardLater == [false, true])
    }

    @Test("a delete says whether it took something away, and one before its create keeps it away")
    func deleted() {
        var standing = Standing()
        let early = standing.delete(through: 2)
        let covered = standing.create(2)
        #expect(!early && !covered && !standing.isShown)
        let fresh = standing.create(3)
        let lower = standing.delete(through: 2)
        #expect(fresh && !lower && standing.isShown)
        let all = standing.delete(through: Standing.everyRevision)
        let after = standing.create(.max)
        #expect(all && !after)
    }

    @Test("any order of the same creates and deletes ends in the same standing")
    func order() {
        let steps: [Standing] = [
            Standing(created: 1), Standing(deleted: 1), Standing(created: 2), Standing(created: 3),
            Standing(deleted: 2),
        ]
        let expected = Standing(created: 3, deleted: 2)
        for order in permutations(steps) {
            var standing = Standing()
            for step in order {
                if step.created > 0 { standing.create(step.created) } else { standing.delete(through: step.deleted) }
            }
            #expect(standing == expected)
        }
    }

    private func merged(_ left: Standing, _ right: Standing) -> Standing {
        var result = left
        result.merge(right)
        return result
    }

    private func permutations(_ steps: [Standing]) -> [[Standing]] {
        guard steps.count > 1 else { return [steps] }
        return steps.indices.flatMap { index in
            var rest = steps
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }
}
