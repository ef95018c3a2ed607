import HushCore
import HushStream

/// The planner's rows in bytes.
///
/// Table `marks`: key = length of the recipient, recipient, id, so that a scan finds a recipient's notifications; what
/// begins with a zero is `AudienceRows`'. Table `rows`: `d` + recipient for devices, `t` for the task itself.
enum PlannerRows {
    /// Format 2 adds excluded devices, and is written where there are any.
    static let markFormat: UInt8 = 2
    static let recipientFormat: UInt8 = 1
    /// The bytes of a drop time, with which the values of an expiring table begin.
    static let dropTimeBytes = 8

    /// What the keys of a recipient's marks begin with.
    static func appendMarkPrefix(_ recipient: Bytes, to key: inout ByteBuffer) {
        var count = recipient.count
        while count >= 0x80 {
            key.append(UInt8(count & 0x7f) | 0x80)
            count >>= 7
        }
        key.append(UInt8(count))
        key.append(recipient.raw)
    }

    /// Whether a key is that of this mark.
    static func isMarkKey(_ key: borrowing ByteBuffer, _ id: Bytes, of recipient: Bytes) -> Bool {
        // Where the end of the key is the id and the rest is as long as it must be, one comparison is left.
        let nameStart = key.count - id.count - recipient.count
        guard nameStart == (recipient.count < 0x80 ? 1 : 2) else { return false }
        return key.withUnsafeBytes { key in
            id.isEqual(to: UnsafeRawBufferPointer(rebasing: key.suffix(id.count)))
                && recipient.isEqual(to: UnsafeRawBufferPointer(rebasing: key[nameStart...].prefix(recipient.count)))
        }
    }

    static func write(_ mark: Mark, lifeMillis: Int64, _ writer: inout RowWriter) {
        // A mark counts through its last millisecond.
        let drop = mark.touched.adding(millis: lifeMillis).adding(millis: 1)
        writer.begin(format: mark.excluded.isEmpty ? 1 : 2, dropping: drop)
        writer.integer(mark.standing.created)
        writer.integer(mark.standing.deleted)
        writer.natural(mark.digest)
        writer.integer(mark.touched.millis)
        writeLive(mark.live, &writer)
        guard !mark.excluded.isEmpty else { return }
        writer.count(mark.excluded.count)
        for device in mark.excluded { writer.text(device) }
    }

    private static func writeLive(_ live: LiveNotification?, _ writer: inout RowWriter) {
        guard let live else { return writer.byte(0) }
        writer.byte(1)
        writer.integer(live.expires.millis)
        writer.integer(live.planned.at.millis)
        writer.integer(live.planned.offset)
        writer.byte(live.mode.rawValue)
        writer.byte(live.urgent ? 1 : 0)
        writer.optional(live.notBefore)
        writer.optional(live.app)
        writer.text(live.content.json)
    }

    static func mark(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> Mark {
        var reader = try RowReader("mark", bytes, newest: markFormat, skipping: dropTimeBytes)
        let standing = Standing(created: try reader.integer(), deleted: try reader.integer())
        var mark = Mark(standing: standing, digest: try reader.natural(), touched: try reader.time())
        if try reader.byte() == 1 {
            let expires = try reader.time()
            let planned = PlanOrder(at: try reader.time(), offset: try reader.integer())
            let mode = try reader.choice(Mode.self)
            let urgent = try reader.byte() == 1
            let notBefore = try reader.optionalTime()
            let app = try reader.optionalText()
            mark.live = LiveNotification(
                content: Content(json: try reader.text()), expires: expires, notBefore: notBefore, mode: mode,
                urgent: urgent, app: app, planned: planned)
        }
        if reader.format >= 2 {
            for _ in 0..<(try reader.count()) { mark.excluded.append(try reader.text()) }
        }
        try reader.end()
        return mark
    }

    /// The list entry of a mark with live content, without copying the content; nil where there is none.
    static func liveEntry(id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> LiveEntry?
    {
        var reader = try RowReader("mark", bytes, newest: markFormat, skipping: dropTimeBytes)
        for _ in 0..<2 { _ = try reader.integer() }
        _ = try reader.natural()
        _ = try reader.integer()
        guard try reader.byte() == 1 else { return nil }
        let expires = try reader.time()
        let planned = PlanOrder(at: try reader.time(), offset: try reader.integer())
        return LiveEntry(id: Bytes(copying: id), expires: expires, planned: planned)
    }

    static func write(_ recipient: Recipient, _ writer: inout RowWriter) {
        writer.begin(format: recipientFormat)
        writer.count(recipient.devices.count)
        for device in recipient.devices {
            let registration = device.registration
            writer.text(registration.device)
            writer.text(registration.token)
            writer.text(registration.app)
            writer.byte(registration.environment.rawValue)
            writer.byte(registration.dialect.rawValue)
            writer.byte((registration.acks ? 1 : 0) | (registration.fresh ? 2 : 0))
            writer.count(registration.tags.count)
            for tag in registration.tags { writer.text(tag) }
            writer.optional(registration.install)
            writer.text(device.address.key)
            writer.version(device.version)
            writer.byte(device.renewed == nil ? 0 : 1)
            if let renewed = device.renewed { writer.version(renewed) }
        }
        writer.count(recipient.departed.count)
        for departed in recipient.departed {
            writer.text(departed.device)
            writer.version(departed.at)
        }
    }

    static func recipient(_ name: Bytes, _ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> Recipient {
        var reader = try RowReader("recipient", bytes, newest: recipientFormat)
        var recipient = Recipient()
        for _ in 0..<(try reader.count()) {
            recipient.devices.append(try device(of: name, &reader))
        }
        for _ in 0..<(try reader.count()) {
            recipient.departed.append(DepartedDevice(device: try reader.text(), at: try reader.version()))
        }
        try reader.end()
        return recipient
    }

    private static func device(of name: Bytes, _ reader: inout RowReader) throws(TaskFailure) -> RegisteredDevice {
        var registration = Registration(
            recipient: name, device: try reader.text(), token: try reader.text(), app: try reader.text(),
            environment: try reader.choice(), dialect: try reader.choice())
        let flags = try reader.byte()
        registration.acks = flags & 1 != 0
        registration.fresh = flags & 2 != 0
        for _ in 0..<(try reader.count()) { registration.tags.append(try reader.text()) }
        registration.install = try reader.optionalText()
        let address = Address(key: try reader.text())
        let version = try reader.version()
        let renewed = try reader.byte() == 0 ? nil : try reader.version()
        return RegisteredDevice(registration: registration, address: address, version: version, renewed: renewed)
    }
}
