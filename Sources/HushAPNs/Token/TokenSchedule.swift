/// When provider tokens are made, as rules: times are seconds since 1970, and arguments.
///
/// APNs takes a token whose `iat` is at most an hour old and wants no more than one new token in 20 minutes. The `iat` of
/// ours is the begin of a slot of the clock, so all instances of a team make the same claim, and it depends on the time of
/// *issue*, never on when a process began.
struct TokenSchedule {
    static let slotSeconds: Int64 = 45 * 60
    /// A slot's token is used only so long after the slot's begin, or a clock that is ahead would claim a future `iat`.
    static let slotDelaySeconds: Int64 = 60
    /// A token that was made out of turn is replaced at this age, where no slot comes before.
    static let ageMaxSeconds: Int64 = 50 * 60
    /// Where APNs asked for fewer tokens, the old one serves up to this age: beyond an hour it is refused anyway.
    static let ageLimitSeconds: Int64 = 59 * 60
    /// Between two tokens.
    static let pauseSeconds: Int64 = 20 * 60

    private(set) var issuedAt: Int64?
    private var madeAt: Int64 = 0
    private var renewAt: Int64 = 0
    private var forbiddenUntil: Int64 = 0

    /// The `iat` to sign now, or nil while the current token serves.
    mutating func due(at now: Int64) -> Int64? {
        guard let issuedAt else { return issue(Self.slot(at: now), at: now) }
        // A clock that was set back would leave an `iat` in the future: begin anew.
        if now < issuedAt { return issue(Self.slot(at: now), at: now) }
        guard now >= renewAt else { return nil }
        if now < forbiddenUntil && now - issuedAt < Self.ageLimitSeconds { return nil }
        return issue(Self.slot(at: now), at: now)
    }

    /// APNs called the current token expired. The `iat` to sign now, or nil where one was made lately: then the clocks
    /// disagree and another token would not help.
    mutating func expired(at now: Int64) -> Int64? {
        guard now >= forbiddenUntil, now - madeAt >= Self.pauseSeconds || now < madeAt else { return nil }
        return issue(now, at: now)
    }

    /// APNs asked for fewer tokens.
    mutating func tooMany(at now: Int64) {
        forbiddenUntil = now + Self.pauseSeconds
    }

    private static func slot(at now: Int64) -> Int64 {
        let time = max(0, now - slotDelaySeconds)
        return time - time % slotSeconds
    }

    private mutating func issue(_ issued: Int64, at now: Int64) -> Int64 {
        issuedAt = issued
        madeAt = now
        var next = Self.slot(at: now) + Self.slotSeconds + Self.slotDelaySeconds
        // Out of turn, shortly before a slot: skip that slot, or two tokens are made within the pause.
        if issued != Self.slot(at: now) && next - now < Self.pauseSeconds { next += Self.slotSeconds }
        renewAt = min(next, issued + Self.ageMaxSeconds)
        return issued
    }
}
