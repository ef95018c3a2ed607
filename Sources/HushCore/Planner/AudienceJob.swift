/// What a partition remembers of an audience's notification: its mark, as a recipient's, and whether it was evaluated.
public struct AudienceMark: Hashable, Sendable {
    public var mark: Mark
    /// Whether recipients were asked for their tags, or are being asked; once is enough.
    public var isEvaluated: Bool

    public init(mark: Mark, isEvaluated: Bool = false) {
        self.mark = mark
        self.isEvaluated = isEvaluated
    }
}

/// What is left to do for an audience in one partition, in slices; durable, so that a crash between two loses nothing.
public struct AudienceJob: Hashable, Sendable {
    /// A walk over names in the order of their bytes.
    public struct Walk: Hashable, Sendable {
        /// The record that asked for it: the cause of what the walk plans.
        public var cause: Position
        /// The last name passed; nil before the first.
        public var after: Bytes?

        public init(cause: Position, after: Bytes? = nil) {
            self.cause = cause
            self.after = after
        }
    }

    /// Jobs take turns: that with the lowest number is next, and goes behind all others then.
    public var turn: Int64
    /// Over all recipients, looking for those whose devices match.
    public var evaluation: Walk?
    /// What `evaluation` looks for; there as long as that is.
    public var audience: Audience?
    /// The app whose devices `evaluation` asks; nil: all.
    public var app: Bytes?
    /// Over those who hold the mark, telling them of an update or a retract.
    public var telling: Walk?

    public init(
        turn: Int64, evaluation: Walk? = nil, audience: Audience? = nil, app: Bytes? = nil, telling: Walk? = nil
    ) {
        self.turn = turn
        self.evaluation = evaluation
        self.audience = audience
        self.app = app
        self.telling = telling
    }

    var isDone: Bool { evaluation == nil && telling == nil }
}

/// A job's place in the order of turns.
public struct AudienceTurn: Hashable, Comparable, Sendable {
    public var turn: Int64
    public var id: Bytes
    /// Whether the job still asks recipients for their tags; else it only tells those who were chosen.
    public var isAsking: Bool

    public init(turn: Int64, id: Bytes, isAsking: Bool) {
        self.turn = turn
        self.id = id
        self.isAsking = isAsking
    }

    public static func < (left: AudienceTurn, right: AudienceTurn) -> Bool { left.turn < right.turn }
}

/// What one slice of a job did; its ops are in the effects, with plan lines that the books fold into one.
public struct AudienceSlice: Hashable, Sendable {
    public var id: Bytes
    /// What recipients were told of: the revision shown, or the highest one taken off.
    public var revision: Int64?
    public var cause: Position
    /// The names walked over lie behind `after` (nil: from the first) and reach to `through` (nil: none was there).
    public var after: Bytes?
    public var through: Bytes?
    /// Recipients who hold the notification and were told.
    public var recipients: Int
    /// Whether the walk is over.
    public var isLast: Bool

    public init(
        id: Bytes, revision: Int64?, cause: Position, after: Bytes?, through: Bytes?, recipients: Int, isLast: Bool
    ) {
        self.id = id
        self.revision = revision
        self.cause = cause
        self.after = after
        self.through = through
        self.recipients = recipients
        self.isLast = isLast
    }
}
