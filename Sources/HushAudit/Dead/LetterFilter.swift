public import HushCore
public import HushWorkers

/// Which letters are meant; an empty part means all.
public struct LetterFilter: Hashable, Sendable {
    public var codes: Set<String> = []
    public var stages: Set<String> = []
    public var topics: Set<Topic> = []
    /// Those that died at or after this time.
    public var since: Timestamp?
    /// Those that died before this time.
    public var until: Timestamp?
    /// By the place in `hush.dead` (`3/17`), or by the place that the record died at (`hush.intents/3/1201`).
    public var letters: Set<String> = []

    public init() {}

    public var isEmpty: Bool { self == LetterFilter() }

    public func takes(_ letter: Letter) -> Bool {
        if !codes.isEmpty, !codes.contains(letter.code) { return false }
        if !stages.isEmpty, !stages.contains(letter.stage) { return false }
        if !topics.isEmpty {
            guard let topic = letter.origin?.topic, topics.contains(topic) else { return false }
        }
        if let since, letter.at < since { return false }
        if let until, letter.at >= until { return false }
        if letters.isEmpty { return true }
        return letters.contains(letter.name) || letter.origin.map { letters.contains("\($0)") } ?? false
    }
}
