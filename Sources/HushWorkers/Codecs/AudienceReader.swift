import HushCore

/// Reads the `audience` of an intent.
///
/// Here alone an unknown member is an error: a list that is misspelt would let the intent reach more people than meant.
enum AudienceReader {
    /// An audience is an object of tags, or `true` where its id is enough.
    static func isOne(_ value: JSONValue) throws(DeadReason) -> Bool {
        switch value.kind {
        case .object: return true
        case .boolean(let truth): return truth
        default: throw value.wrong("audience", "must be an object or true")
        }
    }

    static func read(_ value: JSONValue, of intent: Intent) throws(DeadReason) -> AudienceIntent {
        guard case .object = value.kind else {
            if case .show = intent.body, (intent.revision ?? 1) == 1 {
                throw value.wrong("audience", "must name tags where revision 1 is shown")
            }
            return AudienceIntent(intent: intent, audience: nil)
        }
        var audience = Audience()
        for list in value.children {
            if list.isNamed("all") {
                audience.all = try tags("audience.all", list)
            } else if list.isNamed("any") {
                audience.any = try tags("audience.any", list)
            } else if list.isNamed("none") {
                audience.none = try tags("audience.none", list)
            } else {
                throw value.wrong("audience", "has members other than \"all\", \"any\" and \"none\"")
            }
        }
        guard !audience.isEmpty else {
            throw value.wrong("audience", "must name a tag; one that every device has reaches all")
        }
        return AudienceIntent(intent: intent, audience: audience)
    }

    private static func tags(_ field: StaticString, _ list: JSONValue) throws(DeadReason) -> [Bytes] {
        list.isNull ? [] : try list.identifiers(field, countMax: InputLimits.tagsMax)
    }
}
