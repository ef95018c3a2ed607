import HushCore

extension HushInbox: Codable {
    /// The saved form. Ids are kept in an array, for as keys of a dictionary those that differ only by Unicode form
    /// would fall together.
    private struct Saved: Codable {
        struct Entry: Codable {
            var id: String
            var created: Int64
            var deleted: Int64
            var expiresMillis: Int64?
            var countsBadge: Bool?
            var told: Int64?
        }

        /// Raised when an older build could not read this any more.
        var format = 1
        var device: String
        var install: String
        var recipient: String?
        var loggedOut: Bool
        var version: [Int64]?
        var tag: String?
        var token: String?
        var complainedMillis: Int64?
        var answered: [Int64]?
        var badge: Int64?
        /// The one that changed longest ago first.
        var entries: [Entry]
    }

    public func encode(to encoder: any Encoder) throws {
        var saved = Saved(
            device: device.text, install: install.text, loggedOut: account == .loggedOut,
            version: version.map(Self.parts), tag: tag?.text,
            token: token?.text, complainedMillis: complained?.millis,
            answered: answered.map(Self.parts), badge: badge, entries: [])
        if case .loggedIn(let recipient) = account { saved.recipient = recipient.text }
        saved.entries = records.sorted { $0.value.touched < $1.value.touched }.map { id, record in
            .init(
                id: id.text, created: record.standing.created, deleted: record.standing.deleted,
                expiresMillis: record.expires?.millis, countsBadge: record.countsBadge ? true : nil,
                told: record.told > 0 ? record.told : nil)
        }
        try saved.encode(to: encoder)
    }

    private static func parts(_ version: BindingVersion) -> [Int64] {
        [version.at.millis, Int64(version.partition), version.offset]
    }

    /// - Throws: `DecodingError` where the state is of a later build or damaged; start a new install then.
    public init(from decoder: any Decoder) throws {
        let saved = try Saved(from: decoder)
        func corrupted(_ what: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: what))
        }
        guard saved.format == 1 else { throw corrupted("saved in format \(saved.format), known is 1") }
        self.init(device: Bytes(saved.device), install: Bytes(saved.install))
        if let recipient = saved.recipient {
            account = .loggedIn(Bytes(recipient))
        } else if saved.loggedOut {
            account = .loggedOut
        }
        func binding(_ parts: [Int64]?) throws -> BindingVersion? {
            guard let parts else { return nil }
            guard parts.count == 3, let partition = Int32(exactly: parts[1]) else {
                throw corrupted("a binding version has three parts")
            }
            return BindingVersion(at: Timestamp(millis: parts[0]), partition: partition, offset: parts[2])
        }
        version = try binding(saved.version)
        answered = try binding(saved.answered)
        tag = saved.tag.map { Bytes($0) }
        token = saved.token.map { Bytes($0) }
        badge = saved.badge
        complained = saved.complainedMillis.map(Timestamp.init(millis:))
        for entry in saved.entries {
            touch(Bytes(entry.id)) { record in
                record.standing = Standing(created: entry.created, deleted: entry.deleted)
                record.countsBadge = entry.countsBadge ?? false
                record.told = entry.told ?? 0
                record.expires = entry.expiresMillis.map(Timestamp.init(millis:))
            }
        }
    }
}
