import HushCore

enum DeviceField: String, CaseIterable {
    case recipient, device, token, app, environment, dialect, acks, tags, install, fresh
    case unregister, reason, address, version, at
}

/// Reads a record of `hush.devices`: a register or an unregister.
enum DeviceReader {
    private struct Draft {
        var recipient: Bytes?
        var device: Bytes?
        var token: Bytes?
        var app: Bytes?
        var environment = PushEnvironment.production
        var dialect = Dialect.hush
        var acks = false
        var tags: [Bytes] = []
        var install: Bytes?
        var fresh = false
        var isUnregister = false
        var reason: Bytes?
        var address: Address?
        var version: BindingVersion?
        var at: Timestamp?
    }

    static func read(_ envelope: Envelope, _ fields: FieldTable<DeviceField>) throws(DeadReason) -> PlannerEvent {
        var draft = Draft()
        for value in envelope.data.children where !value.isNull {
            guard let field = fields.field(value.key) else { continue }
            try take(field, value, &draft)
        }
        let recipient = try envelope.recipient(draft.recipient)
        guard let device = draft.device else { throw missing("device") }
        if draft.isUnregister {
            return .unregister(
                Unregistration(
                    recipient: recipient, device: device, reason: draft.reason, address: draft.address,
                    version: draft.version, at: draft.at))
        }
        guard let token = draft.token else { throw missing("token") }
        guard let app = draft.app else { throw missing("app") }
        return .register(
            Registration(
                recipient: recipient, device: device, token: token, app: app, environment: draft.environment,
                dialect: draft.dialect, acks: draft.acks, tags: draft.tags, install: draft.install,
                fresh: draft.fresh))
    }

    private static func take(_ field: DeviceField, _ value: JSONValue, _ draft: inout Draft) throws(DeadReason) {
        switch field {
        case .recipient: draft.recipient = try value.identifier("recipient")
        case .device: draft.device = try value.identifier("device")
        case .token: draft.token = try value.token()
        case .app: draft.app = try value.app()
        case .environment: draft.environment = try value.choice("environment", \PushEnvironment.name)
        case .dialect: draft.dialect = try value.choice("dialect", \Dialect.name)
        case .acks: draft.acks = try value.boolean("acks")
        case .tags: draft.tags = try value.identifiers("tags", countMax: InputLimits.tagsMax)
        case .install: draft.install = try value.identifier("install")
        case .fresh: draft.fresh = try value.boolean("fresh")
        case .unregister: draft.isUnregister = try value.boolean("unregister")
        case .reason: draft.reason = try value.reason()
        case .address: draft.address = try value.address()
        case .version: draft.version = try value.version()
        case .at: draft.at = try value.time("at")
        }
    }
}

extension JSONValue {
    /// A device token in lower case, whatever its sender wrote: two spellings are one phone.
    func token() throws(DeadReason) -> Bytes {
        var token = try string("token")
        guard !token.isEmpty, token.count % 2 == 0, token.count <= InputLimits.tokenDigitsMax, Hex.isHex(token.raw)
        else { throw wrong("token", "must be 2 to \(InputLimits.tokenDigitsMax) hex digits, two a byte") }
        for index in token.raw.indices { token.raw[index] |= 0x20 }
        return token
    }

    /// The key of an address, as `Address.init(app:environment:token:)` makes it.
    func address() throws(DeadReason) -> Address {
        let key = try string("address")
        guard key.count == 32, Hex.isHex(key.raw), !key.raw.contains(where: { (0x41...0x46).contains($0) }) else {
            throw wrong("address", "must be 32 lower-case hex digits")
        }
        return Address(key: key)
    }

    /// A binding's version: append time in milliseconds, partition, offset.
    func version() throws(DeadReason) -> BindingVersion {
        var numbers: [Int64] = []
        for part in try array("version", countMax: 3) { numbers.append(try part.integer("version", 0...Int64.max)) }
        guard numbers.count == 3, let partition = Int32(exactly: numbers[1]) else {
            throw wrong("version", "must be an append time in milliseconds, a partition and an offset")
        }
        return BindingVersion(at: Timestamp(millis: numbers[0]), partition: partition, offset: numbers[2])
    }

    /// A reason is for people, so one that is too long is cut, at a character.
    func reason() throws(DeadReason) -> Bytes {
        var reason = try string("reason")
        guard reason.count > InputLimits.reasonBytesMax else { return reason }
        var end = InputLimits.reasonBytesMax
        while end > 0, reason.raw[end] & 0xc0 == 0x80 { end -= 1 }
        reason.raw.removeSubrange(end...)
        return reason
    }
}
