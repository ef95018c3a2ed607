import HushCore
import HushWorkers

/// How many letters there are, by code, stage, topic and state; what `hush dead list` shows first.
public struct LetterSummary: Hashable, Sendable {
    public private(set) var count = 0
    public private(set) var byCode: [String: [LetterState: Int]] = [:]
    public private(set) var byStage: [String: Int] = [:]
    public private(set) var byTopic: [String: Int] = [:]
    public private(set) var byState: [LetterState: Int] = [:]
    /// When the first and the last of them died.
    public private(set) var first: String?
    public private(set) var last: String?

    public init() {}

    public mutating func take(_ letter: Letter, _ state: LetterState) {
        count += 1
        byCode[letter.code.isEmpty ? "(none)" : letter.code, default: [:]][state, default: 0] += 1
        byStage[letter.stage.isEmpty ? "(none)" : letter.stage, default: 0] += 1
        byTopic[letter.origin?.topic.name ?? "(none)", default: 0] += 1
        byState[state, default: 0] += 1
        let at = letter.at.rfc3339
        first = min(first ?? at, at)
        last = max(last ?? at, at)
    }

    /// A table by code and state, then the counts by stage and topic.
    public var text: String {
        guard count > 0, let first, let last else { return "no dead letters\n" }
        var text = "\(count) dead letter\(count == 1 ? "" : "s"), from \(first) to \(last)\n\n"
        let states = LetterState.allCases.filter { byState[$0] != nil }
        var rows = [["code", "all"] + states.map(\.rawValue)]
        for (code, counts) in byCode.sorted(by: { $0.key < $1.key }) {
            rows.append([code, "\(counts.values.reduce(0, +))"] + states.map { "\(counts[$0] ?? 0)" })
        }
        text += TextTable.text(rows)
        for (title, counts) in [("stage", byStage), ("topic", byTopic)] {
            let parts = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            text += "by \(title): \(parts.joined(separator: ", "))\n"
        }
        return text
    }
}

/// Columns of text for a terminal: the first to the left, numbers to the right; every row ends with a line feed.
enum TextTable {
    static func text(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let gap = String(repeating: " ", count: max(0, widths[column] - cell.count))
                return column == 0 ? cell + gap : gap + cell
            }
            return "  " + cells.joined(separator: "  ") + "\n"
        }.joined()
    }
}
