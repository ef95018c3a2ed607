import HushCore
import HushKit

/// Joins the ledger's plan lines with its deliver lines, as an auditor does: by cause, device, notification and kind.
struct Books {
    struct Op: Hashable, CustomStringConvertible {
        var topic: Bytes
        var partition: Int64
        var offset: Int64
        var device: Bytes
        /// Empty for a bind.
        var id: Bytes
        var kind: Bytes

        var description: String { "\(kind) \(id) on \(device) by \(topic)-\(partition)@\(offset)" }
    }

    /// What was planned and has no final outcome yet.
    private(set) var pending: Set<Op> = []
    /// Ops of audiences that have no final outcome yet.
    private(set) var unfinishedSliceOps: Int64 = 0
    /// What does not add up, in words.
    private(set) var problems: [String] = []

    init(_ lines: [PayloadValue]) {
        var outcomes: [Op: Int] = [:]
        for line in lines where line["final"] == true {
            for part in line["ops"]?.array ?? [] {
                guard let op = Self.op(part["cause"], line["device"]?.string, part["id"]?.id, part["kind"]?.string)
                else {
                    problems.append("a final line names no cause")
                    continue
                }
                outcomes[op, default: 0] += 1
            }
        }
        var decided: [Bytes: Int] = [:]
        takeSlices(lines, &outcomes)
        for line in lines {
            guard let decision = line["decision"]?.string, decision != "sliced" else { continue }
            decided[Self.name(line, decision), default: 0] += 1
            for planned in line["ops"]?.array ?? [] {
                guard let parts = planned.array, parts.count >= 2, let device = parts[0].string,
                    let kind = parts[1].string,
                    let op = Self.op(
                        line["cause"], device, kind == "bind" ? nil : parts.count > 2 ? parts[2].id : line["id"]?.id,
                        kind)
                else {
                    problems.append("a plan line has an op that cannot be read")
                    continue
                }
                let count = outcomes.removeValue(forKey: op) ?? 0
                if count > 1 { problems.append("\(op) has \(count) final outcomes") }
                if count == 0, !pending.insert(op).inserted { problems.append("\(op) was planned twice") }
            }
        }
        // A line names no device where the address is bound to nobody: one of those that have none of their own.
        for op in pending {
            var nameless = op
            nameless.device = ""
            guard let count = outcomes[nameless] else { continue }
            outcomes[nameless] = count > 1 ? count - 1 : nil
            pending.remove(op)
        }
        for op in outcomes.keys { problems.append("\(op) was never planned") }
        for (name, count) in decided where count > 1 { problems.append("\(name) was decided \(count) times") }
        problems.sort()
    }

    /// What slices planned stands in no line by itself; an op is theirs where it has their cause and id.
    private mutating func takeSlices(_ lines: [PayloadValue], _ outcomes: inout [Op: Int]) {
        var planned: [Op: Int64] = [:]
        for line in lines where line["decision"] == "sliced" {
            guard let slice = Self.op(line["cause"], nil, line["id"]?.id, ""), let count = line["count"]?.integer else {
                problems.append("a slice cannot be read")
                continue
            }
            planned[slice, default: 0] += count
        }
        for (op, count) in outcomes where op.topic == "hush.fanout" {
            var slice = op
            slice.device = ""
            slice.kind = ""
            guard let left = planned[slice] else { continue }
            outcomes[op] = nil
            planned[slice] = left - 1
            if count > 1 { problems.append("\(op) has \(count) final outcomes") }
        }
        for (slice, left) in planned {
            if left < 0 { problems.append("\(slice) has \(-left) outcomes more than were planned") }
            unfinishedSliceOps += max(left, 0)
        }
    }

    private static func op(_ cause: PayloadValue?, _ device: Bytes?, _ id: Bytes?, _ kind: Bytes?) -> Op? {
        guard let topic = cause?["topic"]?.string, let partition = cause?["partition"]?.integer,
            let offset = cause?["offset"]?.integer, let kind
        else { return nil }
        return Op(
            topic: topic, partition: partition, offset: offset, device: device ?? "", id: id ?? Bytes([]), kind: kind)
    }

    /// Each record and id has one line; an eviction's stands under the record that needed the room.
    private static func name(_ line: PayloadValue, _ decision: Bytes) -> Bytes {
        let cause = line["cause"]
        let place = "\(cause?["topic"]?.string ?? "")-\(cause?["partition"]?.integer ?? -1)@"
        // One slice may evict the same id from several.
        let evicted = decision == "evicted" ? " evicted \(line["recipient"]?.id ?? "")" : ""
        return Bytes("\(place)\(cause?["offset"]?.integer ?? -1) \(line["id"]?.id ?? "")\(evicted)")
    }
}

extension VirtualPath {
    var books: Books { Books(lines()) }
}
