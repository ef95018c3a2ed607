import HushAudit
import HushCore
import HushStream
import HushWorkers
import Testing

/// Runs of the virtual path whose ledger holds pseudonyms.
@Suite("The path: pseudonyms")
struct PseudonymPathTests {
    private static let key = Array("a key of the test, of more than 32 bytes".utf8)
    private static let otherKey = Array("another key of the test, as long as that".utf8)
    private static let names = ["ada-lovelace", "eve-of-destruction", "ada-spare-tablet", "nobody-at-all"]

    private func key(_ bytes: [UInt8] = key) throws -> PseudonymKey { try PseudonymKey(bytes) }

    /// A day with all kinds of lines: an audience's slices, a device that APNs does not know, a record in a foreign
    /// partition, one that cannot be read.
    private func day(planner: PseudonymKey?, deliverer: PseudonymKey?) throws -> VirtualPath {
        let path = try VirtualPath(plannerKey: planner, delivererKey: deliverer)
        for owner in Self.names.prefix(2) {
            let phone = try path.phone(Bytes(owner))
            try AudiencePathTests.setTags(["ios"], of: phone, on: path)
        }
        path.publish(
            .devices,
            #"{"device":"ada-spare-tablet","token":"bb01","app":"\#(VirtualPath.app)","dialect":"hush","acks":true}"#,
            key: "ada-lovelace")
        for number in 0..<6 {
            for owner in Self.names.prefix(2) {
                path.publish(.intents, #"{"id":"n\#(number)","recipient":"\#(owner)","title":"t"}"#, key: owner)
            }
            try path.pass(.seconds(20))
        }
        let foreign = (path.partition(of: "ada-lovelace") + 1) % VirtualPath.partitionCount
        path.publish(
            .intents, #"{"id":"far","recipient":"ada-lovelace","title":"t"}"#, key: "ada-lovelace", partition: foreign)
        path.publish(.intents, "this is no JSON", key: "nobody-at-all")
        path.publish(
            .reads, #"{"recipient":"ada-lovelace","ids":["n0","n1"],"device":"ada-spare-tablet"}"#,
            key: "ada-lovelace")
        path.publish(.intents, #"{"id":"promo","audience":{"all":["ios"]},"title":"t"}"#, key: "promo")
        try path.pass(.seconds(600))
        return path
    }

    private func isThere(_ name: String, in path: VirtualPath, _ topic: Topic) -> Bool {
        let needle = Array(name.utf8)
        return path.records(topic).contains { record in
            [record.key, record.value].contains { bytes in
                bytes.indices.contains { bytes[$0...].starts(with: needle) }
            }
        }
    }

    @Test("22: no recipient and no device of any input stands in a ledger of pseudonyms, in keys or in lines")
    func nobodyIsNamed() throws {
        let path = try day(planner: try key(), deliverer: try key())
        for name in Self.names + [#""d1""#, #""d2""#] {
            #expect(!isThere(name, in: path, .ledger), "\(name)")
        }
        for name in Self.names {
            #expect([Topic.intents, .devices].contains { isThere(name, in: path, $0) }, "\(name)")
        }
        // In clear they do: the day has all of them.
        let clear = try day(planner: nil, deliverer: nil)
        for name in Self.names + [#""d1""#, #""d2""#] {
            #expect(isThere(name, in: clear, .ledger), "\(name)")
        }
        #expect(path.decisions("promo").contains("sliced"))
        #expect(path.records(.ledger).count == clear.records(.ledger).count)
    }

    @Test("with the key the books are proved, and the replay is the same; without it both say what they lack")
    func audited() throws {
        let key = try key()
        let path = try day(planner: key, deliverer: key)
        let report = try path.audit(key: key)
        #expect(report.verdict == .proved, "\(report.text)")
        let replay = try path.replay(key: key)
        #expect(replay.verdict == .same, "\(replay.text(isWhatIf: false))")
        #expect(replay.linesRecorded > 20 && replay.slices > 0)

        for other in [nil, try self.key(Self.otherKey)] {
            let given = other.map { "and the one given is \($0.mark)" } ?? "and none was given"
            let blind = try path.audit(key: other)
            #expect(blind.violations == [] && blind.verdict == .unproved)
            #expect(blind.doubts.map(\.code) == [.foreignPseudonyms])
            #expect(blind.doubts[0].detail.hasSuffix("writes under the key \(key.mark), \(given)"))
            let unlike = try path.replay(key: other)
            #expect(unlike.differences == [] && unlike.verdict == .unproved)
            #expect(unlike.doubts.count == 4)
            #expect(unlike.doubts.allSatisfy { $0.hasSuffix("as pseudonyms of the key \(key.mark), \(given)") })
            #expect(unlike.pushesFound == path.records(.pushes).count)
        }
    }

    @Test("a ledger that begins in clear is proved with the key; names of two keys make doubts, and no violation")
    func switched() throws {
        let key = try key()
        let other = try self.key(Self.otherKey)
        let mixed = try day(planner: nil, deliverer: key)
        #expect(try mixed.audit(key: key).verdict == .proved)
        #expect(try mixed.replay(key: key).verdict == .same)
        let blind = try mixed.audit()
        #expect(blind.violations == [] && blind.doubts.map(\.code) == [.foreignPseudonyms], "\(blind.text)")
        let turned = try day(planner: key, deliverer: other)
        for given in [nil, key, other] {
            let report = try turned.audit(key: given)
            #expect(report.violations == [] && report.verdict == .unproved, "\(report.text)")
        }
    }

    @Test("a story is told with the key by the recipient's own name; without it, it says what it lacks")
    func story() throws {
        let key = try key()
        let path = try day(planner: key, deliverer: key)
        let told = path.story("ada-lovelace", "n3", key: key)
        #expect(told.foreignKey == nil)
        let tablet = Pseudonyms(key).pseudonym(of: "ada-spare-tablet")
        #expect(told.text.contains("ada-spare-tablet (\(tablet)) registers"))
        #expect(told.text.contains("create for \(tablet)"))
        #expect(told.text.contains("planned: "))
        let blind = path.story("ada-lovelace", "n3", key: nil)
        #expect(blind.foreignKey == "the key \(key.mark), and none was given")
        #expect(blind.text.contains("an intent to show it") && !blind.text.contains("planned: "))
        #expect(blind.text.hasSuffix("not told: names stand in the ledger as pseudonyms of \(blind.foreignKey ?? "")"))
        #expect(path.story("ada-lovelace", "none", key: key).text.contains("registers"))
    }
}
