public import HushCore
import HushKit

extension PhoneMessage {
    /// What the planner makes of the record: the same as if its JSON was decoded, without the detour.
    public var event: PlannerEvent {
        switch body {
        case .show(let show): .intent(Self.intent(show))
        case .retract(let recipient, let id, let revision):
            .intent(Intent(id: id, recipient: recipient, body: .retract, revision: revision))
        case .read(let recipient, let id, let revision):
            .read(Read(recipient: recipient, ids: [id], revision: revision))
        case .register(let registration, let app, let dialect):
            .register(Self.registration(registration, app, dialect))
        case .unregister(let loss):
            .unregister(Unregistration(recipient: loss.recipient, device: loss.device, reason: "logout"))
        case .report(let report, let recipient):
            .read(
                Read(
                    recipient: recipient, ids: [report.id], revision: report.revision, device: report.device,
                    install: report.install, kind: report.kind == .read ? .read : .dismissed))
        case .signal(let signal): .signal(Self.signal(signal))
        }
    }

    private static func intent(_ show: Workload.Show) -> Intent {
        var json = JSONWriter()
        json.raw("{\"title\":")
        json.string(show.title)
        json.raw(",\"body\":")
        json.string(show.body)
        json.byte(UInt8(ascii: "}"))
        return Intent(
            id: show.id, recipient: show.recipient, body: .show(Content(json: Bytes(json.bytes))),
            revision: show.revision, expiry: show.life.map { .after($0) }, mode: show.mode, urgent: show.urgent)
    }

    private static func registration(_ said: HushRegistration, _ app: Bytes, _ dialect: Dialect) -> Registration {
        let isOurs = dialect == .hush
        return Registration(
            recipient: said.recipient, device: said.device, token: said.token, app: app, dialect: dialect,
            acks: isOurs, install: isOurs ? said.install : nil, fresh: isOurs && said.fresh)
    }

    private static func signal(_ said: PhoneSignal) -> Signal {
        var reading = said.reading ?? DeviceReading()
        reading.at = Timestamp(seconds: said.at.seconds)
        reading.notBefore = reading.notBefore.map { Timestamp(seconds: $0.seconds) }
        return Signal(
            recipient: said.recipient, device: said.device, reading: reading, acks: said.acks.compactMap { OpID($0) },
            hello: said.hello.map { hello in
                Signal.Hello(
                    shown: hello.shown.map { Signal.Entry(id: $0.id, revision: $0.revision) },
                    gone: hello.gone.map { Signal.Entry(id: $0.id, revision: $0.revision) })
            })
    }
}
