import HushCore
import HushKit

/// The log of accepted pushes and broken connections: one JSON object a line, for scripts that check what left.
enum PushLog {
    /// `{"n":1,"at":…,"apns_id":"…","token":"…","type":"background","priority":"5","collapse_id":…,"answered":true,
    /// "payload":{…}}`, with a newline; the payload is as it came.
    static func line(_ push: AcceptedPush) -> [UInt8] {
        var json = JSONWriter(reserving: push.body.count + 256)
        func header(_ name: Bytes) -> Bytes? { push.headers.first { $0.name == name }?.value }
        json.raw("{\"n\":")
        json.integer(push.number)
        json.raw(",\"at_ms\":")
        json.integer(push.at.millis)
        json.raw(",\"apns_id\":")
        json.string(push.apnsID)
        json.raw(",\"token\":")
        json.string(push.token)
        json.raw(",\"type\":")
        json.string(header("apns-push-type") ?? "")
        json.raw(",\"priority\":")
        json.string(header("apns-priority") ?? "10")
        if let collapse = header("apns-collapse-id") {
            json.raw(",\"collapse_id\":")
            json.string(collapse)
        }
        json.raw(",\"answered\":")
        json.boolean(push.isAnswered)
        json.raw(",\"payload\":")
        // A payload may be written over several lines; a line of the log is one line.
        json.raw(push.body.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        json.raw("}\n")
        return json.bytes
    }

    /// `{"broken_at_ms":…,"unanswered":["apns-id",…]}`, with a newline.
    static func line(_ broken: BrokenConnection) -> [UInt8] {
        var json = JSONWriter()
        json.raw("{\"broken_at_ms\":")
        json.integer(broken.at.millis)
        json.raw(",\"unanswered\":[")
        for (index, apnsID) in broken.unanswered.enumerated() {
            if index > 0 { json.byte(UInt8(ascii: ",")) }
            json.string(apnsID)
        }
        json.raw("]}\n")
        return json.bytes
    }
}
