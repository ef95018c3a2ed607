import HushCore
import HushKit

extension FleetHousehold {
    /// Something that senders or people do.
    func take(_ timed: Workload.Timed) {
        switch timed.event {
        case .show(let show):
            note(nil, "intent \(show.id) r\(show.revision)\(timed.isDuplicate ? " again" : "") \(show.mode.name.text)")
            if timed.isDuplicate { counts.happened(.repeatedIntent) } else { counts.intents += 1 }
            guard let person = person(show.recipient) else { return }
            owe(person) { truth, phones in
                guard truth.sent(show, at: now) else { return }
                for phone in phones { meters[phone].owes(create: show.id, revision: show.revision, at: now) }
            }
            if let life = show.life, life < FleetOptions.life { queue.add(.expire, at: now + life) }
        case .retract(let recipient, let id, let revision):
            note(nil, "retract \(id)")
            counts.intents += 1
            dealtWith(recipient, id, revision ?? .max, by: nil)
        case .read(let recipient, let id, let revision, let phone):
            counts.reads += 1
            if let phone, phones[phone].app.owner == recipient, phones[phone].isConnected {
                note(phone, "reads \(id) r\(revision)")
                dealtWith(recipient, id, revision, by: phone)
                send(change(phone) { $0.read(id, revision: revision, now: now) }, from: phone, isSure: true)
                return
            }
            note(nil, "\(recipient) reads \(id) r\(revision) elsewhere")
            dealtWith(recipient, id, revision, by: nil)
            append(PhoneMessage(body: .read(recipient: recipient, id: id, revision: revision)))
            return
        case .moved(let phone, let owner):
            note(phone, "\(owner) logs in")
            meters[phone].forgive()
            // What a person heard on another's phone, somebody else did not hear.
            var messages = change(phone) { $0.move(to: owner, install: newInstall(of: phone), now: now) }
            // Only the login is sure to be told: it is repeated at every launch.
            if messages.contains(where: \.isLogout), chance(options.faults.logoutLost, .logout, phone) {
                messages.removeAll(where: \.isLogout)
                counts.happened(.logoutLost)
                note(phone, "the logout is lost")
            }
            phones[phone].app.screen.forgetRings()
            return send(messages, from: phone, isSure: true)
        case .battery, .appears, .reinstalled, .renewed: return
        }
        if let message = timed.event.message() { append(message) }
    }

    /// Brings what a person should see up to date, and each screen's debt with it.
    private func owe(_ person: Int, _ act: (inout FleetTruth, [Int]) -> Void) {
        let mine = phones.indices.filter { phones[$0].app.owner == planners[person].name }
        for phone in mine { meters[phone].advance(now, isReachable: phones[phone].isReachable, &counts) }
        act(&truths[person], mine.filter { phones[$0].isReachable })
        for phone in mine { look(phone) }
    }

    private func dealtWith(_ recipient: Bytes, _ id: Bytes, _ revision: Int64, by reader: Int?) {
        guard let person = person(recipient) else { return }
        owe(person) { truth, reachable in
            guard truth.dealtWith(id, through: revision) else { return }
            for phone in reachable where phone != reader {
                meters[phone].owes(delete: id, isShown: phones[phone].app.screen.shown[id] != nil, at: now)
            }
        }
    }

    /// Lives that are over: phones remove them alone, where their app knows.
    func expire() {
        for person in planners.indices {
            owe(person) { truth, _ in truth.expire(now) }
        }
        for phone in phones.indices {
            _ = change(phone) { app in
                app.expire(now: now)
                return []
            }
        }
    }

    /// All phones can be reached by now, and repeats had their time.
    func judge() {
        let oracle = Oracle(script.workload)
        for phone in phones.indices {
            let app = phones[phone].app
            if app.dialect == .hush { app.expire(now: now) }
            let expected = oracle.screen(of: phone, at: now - Self.start)
            counts.due += expected.count
            counts.createsLost += expected.keys.count { app.screen.shown[$0] == nil }
            if app.shows(expected) {
                counts.screensRight += 1
            } else if options.way == .hush {
                let wanted = expected.map { "\($0.key) r\($0.value.revision ?? 0)" }.sorted().joined(separator: ", ")
                violate(.screenWrong, phone, "shows \(app.summary), must show [\(wanted)]")
            }
        }
    }

    /// What must hold once nothing is left to happen.
    func finish() {
        if options.way == .crt { return }
        for (index, phone) in phones.enumerated() {
            for (id, rings) in phone.app.screen.rings {
                for (revision, count) in rings where count > 1 {
                    violate(.rangTwice, index, "\(id) r\(revision) rang \(count) times")
                }
            }
        }
        for planner in planners where !planner.isIdle {
            violate(.stuck, nil, "the planner of \(planner.name) has work")
        }
        for address in addresses {
            let phone = address.state.row.binding.flatMap { self.phone(token: $0.token) }
            if !address.isIdle || (address.state.row.binding != nil && !address.state.row.ops.isEmpty) {
                violate(.stuck, phone, "\(address.state.row.ops.count) ops of an address wait for nothing")
            }
            if let broken = address.audit.broken {
                violate(.budget, phone, "at \((broken - Self.start).components.seconds) s")
            }
            if let reason = address.rejected.first { violate(.rejected, phone, reason.text) }
        }
    }
}
