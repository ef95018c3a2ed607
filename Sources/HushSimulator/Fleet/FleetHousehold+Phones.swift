import HushCore
import HushKit

extension FleetHousehold {
    // MARK: APNs

    func request(_ index: Int) {
        let flight = flights[index]
        if addresses[flight.address].life != flight.life, chance(0.5, .crash, index) { return }
        var luck = numbers(.apns, flight.address)
        service.reseed(luck.next())
        let (reply, accepted) = service.receive(SimulatedRequest(flight.push, payload: flight.payload), now: now)
        if let push = accepted {
            counts.pushes += 1
            if flight.push.isAlert { counts.alerts += 1 }
            spread(push.delivered)
        }
        switch reply {
        case .answer(let reason, _, let timestamp, let retryAfter, let delay):
            if let fault = reason.flatMap({ FleetFault(status: $0.status) }) { counts.happened(fault) }
            note(phone(token: flight.push.token), "push \(flight.push.summary): \(reason?.name.text ?? "200")")
            let result = PushResult.answered(
                status: reason?.status ?? 200, reason: reason?.name ?? "",
                retryAfter: retryAfter.map { .seconds($0) }, timestamp: timestamp.map { Timestamp(millis: $0) })
            queue.add(.answer(index, result), at: now + delay)
        case .reset:
            counts.happened(.reset)
            note(phone(token: flight.push.token), "push \(flight.push.summary): reset, taken: \(accepted != nil)")
            queue.add(.answer(index, .unknown), at: later(1...50, .answer, index))
        case .silence:
            counts.happened(.silence)
            note(phone(token: flight.push.token), "push \(flight.push.summary): silence, taken: \(accepted != nil)")
            queue.add(.answer(index, .unknown), at: now + .seconds(30))
        }
    }

    /// A push on its way from APNs to its phone: usually soon, sometimes late, twice, or never.
    private func spread(_ push: DeliveredPush) {
        let faults = options.faults
        let phone = phone(token: push.token) ?? 0
        if chance(faults.lost, .lost, phone) { return counts.happened(.lost) }
        // An alert that APNs itself brings twice sounds twice, whatever a sender does.
        if !push.isAlert, chance(faults.doubled, .doubled, phone) {
            counts.happened(.doubled)
            queue.add(.reach(push), at: later(100...60_000, .doubled, phone))
        }
        if chance(faults.late, .late, phone) {
            counts.happened(.late)
            queue.add(.reach(push), at: later(10_000...1_200_000, .reach, phone))
        } else {
            queue.add(.reach(push), at: later(50...500, .reach, phone))
        }
    }

    func reach(_ push: DeliveredPush) {
        guard let phone = phone(token: push.token) else { return }
        if phones[phone].isConnected { return hand(push, to: phone) }
        counts.happened(phones[phone].stored == nil ? .stored : .storedReplaced)
        phones[phone].stored = push
    }

    private func hand(_ push: DeliveredPush, to phone: Int) {
        let replaces = phones[phone].held != nil
        switch phones[phone].take(push, now) {
        case .shown: receive(push, at: phone)
        case .woken:
            counts.wakeUps += 1
            receive(push, at: phone)
        case .held:
            counts.happened(replaces ? .heldReplaced : .held)
            note(phone, "iOS holds the push")
            if let wakesAt = phones[phone].wakesAt(now) { queue.add(.wake(phone), at: wakesAt) }
        case .discarded:
            counts.happened(.discarded)
            note(phone, "the push is discarded: force-quit")
        }
    }

    func wake(_ phone: Int) {
        guard let held = phones[phone].held, let wakesAt = phones[phone].wakesAt(now), wakesAt <= now else { return }
        hand(held, to: phone)
    }

    private func receive(_ push: DeliveredPush, at phone: Int) {
        let messages = change(phone) { $0.receive(push, now: now) }
        note(phone, "the app takes the push; shows \(phones[phone].app.summary)")
        send(messages, from: phone, isSure: false)
    }

    /// Lets something happen to a phone's screen, and looks at what came of it.
    func change(_ phone: Int, _ act: (SimulatedPhone) -> [PhoneMessage]) -> [PhoneMessage] {
        meters[phone].advance(now, isReachable: phones[phone].isReachable, &counts)
        let app = phones[phone].app
        let messages = act(app)
        for id in app.screen.shown.keys where !id.raw.starts(with: app.owner.raw) {
            violate(.wrongOwner, phone, "\(id) on the screen of \(app.owner)")
        }
        look(phone)
        return messages
    }

    func look(_ phone: Int) {
        guard let person = person(phones[phone].app.owner) else { return }
        meters[phone].look(phones[phone].app, truths[person], at: now, &counts)
    }

    // MARK: what apps send

    /// Registers, reads and hellos of an opened app are repeated until they are taken, one after the other; what an app
    /// sends while it was woken may be lost.
    func send(_ messages: [PhoneMessage], from phone: Int, isSure: Bool) {
        guard phones[phone].isConnected else { return phones[phone].outbox += messages }
        for message in messages {
            if message.topic == .signals, !isSure {
                sendSignal(message, from: phone)
            } else {
                let at = max(later(20...400, .send, phone), phones[phone].lastSentAt + .milliseconds(1))
                phones[phone].lastSentAt = at
                queue.add(.send(message), at: at)
            }
        }
    }

    private func sendSignal(_ message: PhoneMessage, from phone: Int) {
        let faults = options.faults
        counts.signals += 1
        if chance(faults.ackLost, .ackLost, phone) {
            note(phone, "the signal is lost")
            return counts.happened(.ackLost)
        }
        if chance(faults.ackDoubled, .ackDoubled, phone) {
            counts.happened(.ackDoubled)
            queue.add(.send(message), at: later(100...600_000, .ackDoubled, phone))
        }
        if chance(faults.ackLate, .ackLate, phone) {
            counts.happened(.ackLate)
            queue.add(.send(message), at: later(60_000...3_600_000, .send, phone))
        } else {
            queue.add(.send(message), at: later(20...2000, .send, phone))
        }
    }

    // MARK: what befalls phones

    func begin(_ spell: FleetScript.Spell) {
        let phone = spell.phone
        counts.happened(spell.kind.fault)
        note(phone, spell.kind.fault.name)
        meters[phone].advance(now, isReachable: phones[phone].isReachable, &counts)
        switch spell.kind {
        case .reinstalled:
            let token = replaceToken(of: phone)
            let install = newInstall(of: phone)
            send(change(phone) { $0.reinstall(token: token, install: install, now: now) }, from: phone, isSure: true)
        case .renewed:
            let token = replaceToken(of: phone)
            send(change(phone) { $0.renew(token: token, now: now) }, from: phone, isSure: true)
        case .batteryLow, .batteryHint:
            guard phones[phone].app.dialect == .hush else { return }
            var numbers = numbers(.hint, phone)
            let length = Duration.seconds(Int64.random(in: 60...28_800, using: &numbers))
            let hint = spell.kind == .batteryHint ? length : nil
            send(
                phones[phone].app.report(level: 0.05, charging: false, hint: hint, now: now), from: phone, isSure: true)
        case .handedOver: break
        default:
            phones[phone].start(spell.kind)
            if !phones[phone].isReachable { meters[phone].forgive() }
        }
    }

    func end(_ spell: FleetScript.Spell) {
        let phone = spell.phone
        guard spell.kind.minutes != nil else { return }
        meters[phone].advance(now, isReachable: phones[phone].isReachable, &counts)
        guard phones[phone].end(spell.kind) else { return }
        note(phone, "no more: \(spell.kind.fault.name)")
        switch spell.kind {
        case .offline, .off: if phones[phone].isConnected { reconnect(phone) }
        case .forceQuit:
            // The person opens the app again; iOS tells nothing of what it discarded.
            let app = phones[phone].app
            send(change(phone) { _ in app.launch(now: now) + app.foreground(now: now) }, from: phone, isSure: true)
        default: break
        }
        wake(phone)
        look(phone)
    }

    private func reconnect(_ phone: Int) {
        let outbox = phones[phone].outbox
        phones[phone].outbox = []
        send(outbox, from: phone, isSure: true)
        guard let stored = phones[phone].stored else { return }
        phones[phone].stored = nil
        if let expires = stored.expires, expires <= now {
            return counts.happened(.storedExpired)
        }
        hand(stored, to: phone)
    }
}

extension SimulatedPhone {
    var summary: String {
        "[" + screen.shown.values.map { "\($0.id) r\($0.revision)" }.sorted().joined(separator: ", ") + "]"
    }
}

extension OutgoingPush {
    /// What is in it, for a trace.
    var summary: String {
        "\(isAlert ? "alert" : "background") \(String(decoding: payload, as: UTF8.self).prefix(600))"
    }
}
