public import HushCore

/// A notification that the centre holds.
public struct HushDelivered: Hashable, Sendable {
    public var identifier: Bytes
    /// The `userInfo` of the push, where the system showed it; for what HushKit showed it is not needed.
    public var payload: PayloadValue?

    public init(identifier: Bytes, payload: PayloadValue? = nil) {
        self.identifier = identifier
        self.payload = payload
    }
}

extension HushInbox {
    /// What is on the screen, and what is gone.
    public var hello: HushHello {
        var found = HushHello(shown: [], gone: [])
        for (id, record) in records.sorted(by: { $0.key < $1.key }) {
            if record.standing.isShown {
                found.shown.append(.init(id: id, revision: record.standing.created))
            } else if record.standing.deleted > 0 {
                found.gone.append(.init(id: id, revision: record.standing.deleted))
            }
        }
        return found
    }

    /// The revision of a notification on the screen; nil where it is not there.
    public func revisionShown(_ id: Bytes) -> Int64? {
        guard let standing = records[id]?.standing, standing.isShown else { return nil }
        return standing.created
    }

    /// When `expire` has something to do next.
    public var nextExpiry: Timestamp? {
        records.values.lazy.filter(\.standing.isShown).compactMap(\.expires).min()
    }

    /// The app was launched or came to the foreground: says hello.
    ///
    /// `delivered` is what the centre holds of ours. What should be there and is not was swiped while the app could not
    /// see it; what the system showed for an alert while the app could not run is taken over from its payload.
    public mutating func foregrounded(delivered: [HushDelivered]? = nil, now: Timestamp) -> [HushAction] {
        if let delivered { reconcile(delivered) }
        let actions = dropExpired(now: now) + settleBadge(isSure: false)
        if account == .loggedOut { return actions }
        return actions + [.hello(hello)]
    }

    /// Removes what has expired. Nobody is told: the sender counts the same time.
    public mutating func expire(now: Timestamp) -> [HushAction] {
        dropExpired(now: now) + settleBadge()
    }

    mutating func dropExpired(now: Timestamp) -> [HushAction] {
        let expired = records.filter { $0.value.standing.isShown && ($0.value.expires ?? .distantFuture) <= now }
        if expired.isEmpty { return [] }
        for id in expired.keys { hide(id) }
        return [.remove(expired.keys.sorted().map(StableIdentifier.of))]
    }

    /// The person swiped a notification away.
    ///
    /// Without `reports` only this install knows, and a hello keeps it from coming back; with it the sender takes it
    /// off the person's other devices too. An identifier that is not on the screen does nothing.
    public mutating func swiped(identifier: Bytes, reports: Bool) -> [HushAction] {
        let shown = records.filter { $0.value.standing.isShown }
        guard let (id, record) = shown.first(where: { StableIdentifier.of($0.key) == identifier }) else { return [] }
        let revision = record.standing.created
        hide(id)
        let badge = settleBadge()
        guard reports else { return badge }
        let report = HushReport(kind: .dismissed, id: id, revision: revision, device: device, install: install)
        return badge + [.report(report)]
    }

    /// The person read what a notification is about, by opening it or elsewhere in the app.
    /// `revision` is what was read, where the app knows better than the screen.
    public mutating func read(_ id: Bytes, revision: Int64? = nil) -> [HushAction] {
        let shown = records[id]?.standing.created ?? 0
        let seen = revision ?? (shown > 0 ? shown : nil)
        var actions: [HushAction] = []
        if let seen {
            let wasShown = revisionShown(id) != nil
            touch(id) { $0.standing.delete(through: seen) }
            if wasShown, revisionShown(id) == nil { actions.append(.remove([StableIdentifier.of(id)])) }
        }
        return actions + settleBadge() + [
            .report(HushReport(kind: .read, id: id, revision: seen, device: device, install: install))
        ]
    }

    /// The number for the app's icon, where a notification on the screen asks for the count and the icon has another.
    ///
    /// The system puts the number of an alert there itself, and tells nobody where the app cannot run. `isSure`: nothing
    /// says that it may have done so since. `shown`: the number that it puts there with what has just come.
    mutating func settleBadge(isSure: Bool = true, shown number: Int64? = nil) -> [HushAction] {
        let shown = records.values.lazy.filter(\.standing.isShown)
        let isKept = shown.contains(where: \.countsBadge)
        guard isKept || badge != nil else { return [] }
        let count = Int64(shown.count)
        let isRight = number.map { $0 == count } ?? (isSure && badge == count)
        badge = isKept ? count : nil
        // What was given a number of its own has the last word where nothing counts any more.
        return isRight || !isKept && number != nil ? [] : [.badge(count)]
    }

    /// Deletes locally what is on the screen.
    private mutating func hide(_ id: Bytes) {
        touch(id) { $0.standing.delete(through: $0.standing.created) }
    }

    /// Brings the records in line with what the centre holds.
    mutating func reconcile(_ delivered: [HushDelivered]) {
        let identifiers = Set(delivered.map(\.identifier))
        for (id, record) in records where record.standing.isShown {
            if !identifiers.contains(StableIdentifier.of(id)) { hide(id) }
        }
        for notification in delivered {
            guard let payload = notification.payload, let push = try? HushPayload(payload), mayAdopt(push) else {
                continue
            }
            for case .create(let id, let revision, let content, _) in push.ops.map(\.op)
            where StableIdentifier.of(id) == notification.identifier {
                touch(id) { record in
                    guard record.standing.create(revision) else { return }
                    record.expires = content["expires"]?.integer.map(Timestamp.init(seconds:))
                    record.countsBadge = content["badge"] == "auto"
                }
            }
        }
    }

    private func mayAdopt(_ push: HushPayload) -> Bool {
        switch account {
        case .untold: tag == push.to
        case .loggedIn(let recipient): push.to == OwnerTag.of(recipient)
        case .loggedOut: false
        }
    }

    /// Keeps the records within their limits; what leaves the screen for that is a local delete.
    mutating func forgetBeyondLimits() -> [HushAction] {
        var actions: [HushAction] = []
        if records.count <= min(HushLimits.shownMax, HushLimits.goneMax) { return actions }
        let shown = records.filter { $0.value.standing.isShown }
        if shown.count > HushLimits.shownMax {
            let oldest = shown.sorted { $0.value.touched < $1.value.touched }
                .prefix(shown.count - HushLimits.shownMax).map(\.key)
            for id in oldest { hide(id) }
            actions.append(.remove(oldest.map(StableIdentifier.of)))
        }
        let gone = records.filter { !$0.value.standing.isShown }
        if gone.count > HushLimits.goneMax {
            let oldest = gone.sorted { $0.value.touched < $1.value.touched }.prefix(gone.count - HushLimits.goneMax)
            for (id, _) in oldest { records[id] = nil }
        }
        return actions
    }
}
