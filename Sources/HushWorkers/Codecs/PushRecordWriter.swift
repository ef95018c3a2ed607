public import HushCore

/// Writes the values of `hush.pushes`; docs/reference/records.md is their definition.
public enum PushRecordWriter {
    /// The format's version: a reader stops at another one.
    public static let version: Int64 = 1

    /// Appends one record's value.
    public static func write(_ record: PushRecord, into json: inout JSONWriter) {
        switch record {
        case .bind(let binding, let fresh, let cause): write(binding, fresh, cause, into: &json)
        case .unbind(let owner, let version):
            json.raw("{\"v\":1,\"kind\":\"unbind\",\"owner\":")
            json.string(owner)
            json.member("version", version)
        case .ops(let owner, let ops, let cause):
            json.raw("{\"v\":1,\"kind\":\"ops\",\"owner\":")
            json.string(owner)
            json.member("ops")
            json.array(ops) { json, op in write(op, into: &json) }
            json.member("cause", cause)
        case .signal(let owner, let reading, let acks, let hello):
            json.raw("{\"v\":1,\"kind\":\"signal\",\"owner\":")
            json.string(owner)
            write(reading, into: &json)
            if !acks.isEmpty {
                json.member("acks")
                json.array(acks) { json, op in json.op(op) }
            }
            if hello { json.member("hello", true) }
        }
        json.byte(UInt8(ascii: "}"))
    }

    private static func write(_ binding: Binding, _ fresh: Bool, _ cause: Position, into json: inout JSONWriter) {
        json.raw("{\"v\":1,\"kind\":\"bind\",\"owner\":")
        json.string(binding.owner)
        json.member("device", binding.device)
        json.member("install", binding.install)
        json.member("token", binding.token)
        json.member("app", binding.app)
        json.member("environment", binding.environment.name)
        json.member("dialect", binding.dialect.name)
        json.member("acks", binding.acks)
        if fresh { json.member("fresh", true) }
        json.member("version", binding.version)
        json.member("cause", cause)
    }

    private static func write(_ op: Op, into json: inout JSONWriter) {
        json.raw("{\"op\":\"")
        json.kind(op.kind)
        json.raw("\",\"id\":")
        json.string(op.id)
        json.member("revision", op.revision)
        if op.first { json.raw(",\"first\":true") }
        if op.quiet { json.raw(",\"quiet\":true") }
        if op.isTold { json.raw(",\"told\":true") }
        if op.urgent { json.raw(",\"urgent\":true") }
        if op.mode != .silent { json.member("mode", op.mode.name) }
        json.member("not_before", op.notBefore)
        json.member("expires", op.expires)
        if let content = op.content {
            json.raw(",\"content\":")
            json.raw(content.json.raw)
        }
        if let liveCount = op.liveCount { json.member("live", liveCount) }
        json.byte(UInt8(ascii: "}"))
    }

    private static func write(_ reading: DeviceReading, into json: inout JSONWriter) {
        json.member("at", reading.at)
        if let battery = reading.battery {
            json.member("battery")
            json.raw(Array(battery.description.utf8))
        }
        json.member("charging", reading.charging)
        json.member("low_power", reading.lowPower)
        json.member("background_refresh", reading.backgroundRefresh)
        json.member("not_before", reading.notBefore)
    }
}

/// Writes what the deliverer tells a recipient's planner through `hush.devices`.
public enum DeviceRecordWriter {
    /// Appends the value of an unregister record.
    public static func write(_ unregistration: Unregistration, into json: inout JSONWriter) {
        json.raw("{\"recipient\":")
        json.string(unregistration.recipient)
        json.member("device", unregistration.device)
        json.member("unregister", true)
        json.member("reason", unregistration.reason)
        json.member("address", unregistration.address?.key)
        json.member("version", unregistration.version)
        json.member("at", unregistration.at)
        json.byte(UInt8(ascii: "}"))
    }

    /// Appends the value of a register record.
    public static func write(_ registration: Registration, into json: inout JSONWriter) {
        json.raw("{\"recipient\":")
        json.string(registration.recipient)
        json.member("device", registration.device)
        json.member("token", registration.token)
        json.member("app", registration.app)
        json.member("environment", registration.environment.name)
        json.member("dialect", registration.dialect.name)
        json.member("acks", registration.acks)
        if !registration.tags.isEmpty {
            json.member("tags")
            json.array(registration.tags) { json, tag in json.string(tag) }
        }
        json.member("install", registration.install)
        if registration.fresh { json.member("fresh", true) }
        json.byte(UInt8(ascii: "}"))
    }
}
