/// Which devices an intent is for, by the tags of their registers.
public struct Audience: Hashable, Sendable {
    /// A device has every one of these,
    public var all: [Bytes]
    /// at least one of these where there are any,
    public var any: [Bytes]
    /// and none of these.
    public var none: [Bytes]

    public init(all: [Bytes] = [], any: [Bytes] = [], none: [Bytes] = []) {
        self.all = all
        self.any = any
        self.none = none
    }

    /// Whether it names no tag at all; every device would match.
    public var isEmpty: Bool { all.isEmpty && any.isEmpty && none.isEmpty }

    /// Whether a device with these tags is meant. Tags are compared byte by byte.
    ///
    /// - Complexity: tags of the audience by tags of the device; both are limited where they are read.
    public func matches(_ tags: [Bytes]) -> Bool {
        all.allSatisfy(tags.contains) && (any.isEmpty || any.contains(where: tags.contains))
            && !none.contains(where: tags.contains)
    }
}

/// An intent for whoever belongs to an audience; the recipient of `intent` is the id itself, which its record is keyed
/// by.
public struct AudienceIntent: Hashable, Sendable {
    public var intent: Intent
    /// Nil where the id is enough: an update or a retract for those who hold it.
    public var audience: Audience?

    public init(intent: Intent, audience: Audience?) {
        self.intent = intent
        self.audience = audience
    }
}
