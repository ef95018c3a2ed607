/// Why a text is no value of its setting, as the end of a sentence: "must be …".
public struct BadValue: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
