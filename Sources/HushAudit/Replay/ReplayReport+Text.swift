import HushCore
import HushWorkers

extension ReplayReport {
    /// For people: what was replayed, what differs with its places, and the verdict last.
    public func text(isWhatIf: Bool) -> String {
        var lines = notes
        lines.append(
            "\(inputs) inputs and \(slices) slices in \(parts) parts: \(linesReplayed) plan lines for "
                + "\(linesRecorded), \(pushesReplayed) pushes, of which hush.pushes holds \(pushesFound)")
        for kind in ReplayDifference.Kind.allCases {
            if let count = differenceCounts[kind] { lines.append("\(count) \(kind.rawValue): \(kind.meaning)") }
        }
        for (change, count) in sortedChanges {
            lines.append(
                "  \(change.recorded?.name.text ?? "no line") -> \(change.replayed?.name.text ?? "no line"): \(count)")
        }
        if let first = differences.first {
            lines.append(
                "the first difference: \(first.kind.rawValue) of \(first.place), planner partition \(first.partition)")
            lines += first.recorded.map { "  recorded: \($0)" }
            lines += first.replayed.map { "  replayed: \($0)" }
        }
        for difference in differences.dropFirst().prefix(Self.toldMax) {
            lines.append("  then \(difference.kind.rawValue) \(difference.place)")
        }
        lines += doubts.map { "not proved: \($0)" }
        lines.append(verdictText(isWhatIf))
        return lines.joined(separator: "\n")
    }

    /// Differences behind the first that are told one by one to people.
    private static let toldMax = 19

    private func verdictText(_ isWhatIf: Bool) -> String {
        switch verdict {
        case .same: isWhatIf ? "nothing would have changed" : "the replay is the same"
        case .different where isWhatIf: "\(differenceCount) differences: this would have changed"
        case .different: "the replay DIFFERS: \(differenceCount) differences"
        case .unproved: "NOT PROVED: nothing differs, and not all could be replayed"
        }
    }

    var sortedChanges: [(DecisionChange, Int)] {
        changes.sorted { left, right in
            (right.value, Int(left.key.recorded?.rawValue ?? 255), Int(left.key.replayed?.rawValue ?? 255))
                < (left.value, Int(right.key.recorded?.rawValue ?? 255), Int(right.key.replayed?.rawValue ?? 255))
        }.map { ($0.key, $0.value) }
    }

    /// One JSON object, as docs/operating/replay.md has it.
    public var json: [UInt8] {
        var json = JSONWriter(reserving: 1 << 14)
        json.raw("{\"verdict\":")
        json.string(Bytes(verdict.rawValue))
        json.member("parts", parts)
        json.member("inputs", inputs)
        json.member("slices", slices)
        json.member("lines_recorded", linesRecorded)
        json.member("lines_replayed", linesReplayed)
        json.member("pushes_replayed", pushesReplayed)
        json.member("pushes_found", pushesFound)
        json.raw(",\"difference_counts\":{")
        let counts = differenceCounts.sorted { $0.key.rawValue < $1.key.rawValue }
        for (index, count) in counts.enumerated() {
            json.raw(index == 0 ? "" : ",")
            json.string(Bytes(count.key.rawValue))
            json.raw(":")
            json.integer(count.value)
        }
        json.raw("}")
        json.member("changes")
        json.array(sortedChanges) { json, change in
            json.raw("{\"recorded\":")
            Self.name(change.0.recorded, &json)
            json.raw(",\"replayed\":")
            Self.name(change.0.replayed, &json)
            json.member("count", change.1)
            json.raw("}")
        }
        json.member("differences")
        json.array(differences) { json, difference in
            json.raw("{\"kind\":")
            json.string(Bytes(difference.kind.rawValue))
            json.member("partition", difference.partition)
            json.member("place", Bytes(difference.place))
            json.member("recorded")
            json.array(difference.recorded) { $0.string(Bytes($1)) }
            json.member("replayed")
            json.array(difference.replayed) { $0.string(Bytes($1)) }
            json.raw("}")
        }
        json.member("notes")
        json.array(notes) { $0.string(Bytes($1)) }
        json.member("doubts")
        json.array(doubts) { $0.string(Bytes($1)) }
        json.raw("}")
        return json.bytes
    }

    private static func name(_ decision: PlanDecision?, _ json: inout JSONWriter) {
        if let decision { json.string(decision.name) } else { json.raw("null") }
    }
}
