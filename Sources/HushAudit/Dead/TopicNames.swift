public import HushWorkers

/// What the topics of an installation are called: tests share one broker under names of their own.
public struct TopicNames: Hashable, Sendable {
    public var prefix: String

    public init(prefix: String = "") {
        self.prefix = prefix
    }

    public func name(_ topic: Topic) -> String { prefix + topic.name }
}
