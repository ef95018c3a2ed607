import HushCore

enum ReadField: String, CaseIterable {
    case recipient, id, ids, revision, device, install, at, kind
}

/// Reads a record of `hush.reads`.
enum ReadReader {
    static func read(_ envelope: Envelope, _ fields: FieldTable<ReadField>) throws(DeadReason) -> Read {
        var (recipient, id): (Bytes?, Bytes?)
        var ids: [Bytes]?
        var revision: Int64?
        var (device, install): (Bytes?, Bytes?)
        var kind = Read.Kind.read
        for value in envelope.data.children where !value.isNull {
            switch fields.field(value.key) {
            case .recipient: recipient = try value.identifier("recipient")
            case .id: id = try value.identifier("id")
            case .ids: ids = try value.identifiers("ids", countMax: InputLimits.readIDsMax)
            case .revision: revision = try value.integer("revision", 1...Standing.everyRevision)
            case .device: device = try value.identifier("device")
            case .install: install = try value.identifier("install")
            case .at: _ = try value.time("at")
            case .kind: kind = try value.choice("kind", \Read.Kind.name)
            case nil: continue
            }
        }
        guard id == nil || ids == nil else {
            throw DeadReason(.badField, "fields \"id\" and \"ids\" exclude each other")
        }
        let all = ids.map(unique) ?? id.map { [$0] } ?? []
        guard !all.isEmpty else { throw missing("id") }
        return Read(
            recipient: try envelope.recipient(recipient), ids: all, revision: revision, device: device,
            install: install, kind: kind)
    }

    /// Each id once, in the order of their first mention: an id gets one line in the books.
    private static func unique(_ ids: [Bytes]) -> [Bytes] {
        var seen: Set<Bytes> = []
        return ids.filter { seen.insert($0).inserted }
    }
}
