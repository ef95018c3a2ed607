public import HushCore

/// The app's side of hush: decides what a push, a tap or a login does to this install's notifications.
///
/// It performs nothing itself. Each event is a method that changes the state and returns the actions to perform, in
/// order; save the state (`Codable`) before performing them, so that a crash repeats an action instead of forgetting it.
/// Which notification stands on the screen follows `Standing` alone: pushes may come twice, late, or in any order, and
/// the screen ends the same.
///
/// Keep the saved state where it is readable after the first unlock and excluded from backups: a backup restored to
/// another phone must start as a new install.
public struct HushInbox: Hashable, Sendable {
    /// Who is logged in, as the app tells.
    public enum Account: Hashable, Sendable {
        /// The app never told: the newest binding's owner is believed.
        case untold
        case loggedIn(Bytes)
        /// Nobody: every push is dropped.
        case loggedOut
    }

    /// What is remembered of one notification.
    struct Record: Hashable, Sendable {
        var standing = Standing()
        /// When the content of `standing.created` stops being worth showing.
        var expires: Timestamp?
        /// Whether the app's icon is to count what is on the screen.
        var countsBadge = false
        /// The highest revision that was shown and is forgotten, so that it makes no sound when it comes again.
        var told: Int64 = 0
        /// Orders records by when they last changed; the lowest is forgotten first.
        var touched: Int64 = 0
    }

    /// The device's id: the app's own, the same over reinstalls where it can be.
    public let device: Bytes
    /// This state's random id; every wipe makes a new one.
    public internal(set) var install: Bytes
    public internal(set) var account = Account.untold
    /// The version of the binding whose pushes are taken; lower ones are dropped.
    public internal(set) var version: BindingVersion?
    /// The owner tag of what is remembered here.
    var tag: Bytes?
    /// APNs' token in lower-case hex.
    var token: Bytes?
    var records: [Bytes: Record] = [:]
    var touches: Int64 = 0
    /// The number that was last put on the app's icon as a count; nil where nothing asks for one.
    var badge: Int64?
    /// The highest binding of another owner that was answered by registering again.
    var answered: BindingVersion?
    /// When a push that was not understood was last answered by a hello.
    var complained: Timestamp?

    /// Starts a new install.
    ///
    /// - Parameters:
    ///   - device: the device's id, not empty.
    ///   - install: a random id, such as a UUID's text.
    public init(device: Bytes, install: Bytes) {
        self.device = device
        self.install = install
    }

    /// Whether a payload is in the `hush` dialect, of whatever version.
    public static func isOurs(_ payload: PayloadValue) -> Bool {
        payload["hush"] != nil
    }

    /// Takes a push.
    ///
    /// - Parameters:
    ///   - payload: the whole `userInfo`.
    ///   - presented: the identifier of the notification that the system itself shows for this push (an alert).
    ///   - delivered: what the notification centre holds, where the caller has asked it; see `foregrounded`.
    ///   - now: the phone's clock.
    /// - Returns: what is to be done, in this order.
    public mutating func receive(
        _ payload: PayloadValue, presented: Bytes? = nil, delivered: [HushDelivered]? = nil, now: Timestamp
    ) -> [HushAction] {
        var actions: [HushAction] = []
        if let delivered { reconcile(delivered) }
        do {
            let push = try HushPayload(payload)
            if let drop = admit(push) {
                let spoiled = presented.map { takeBack($0) } ?? false
                return dropExpired(now: now) + (presented.map { [.remove([$0])] } ?? [])
                    + settleBadge(isSure: presented == nil && delivered == nil) + [.dropped(drop)]
                    + (spoiled ? [.hello(hello)] : []) + (drop == .otherOwner ? claim(push.version) : [])
            }
            actions += takeVersion(push)
            let outcome = apply(push, presented: presented, now: now)
            let number = presented == nil ? outcome.badge : payload["aps"]?["badge"]?.integer
            actions += outcome.actions + dropExpired(now: now)
            actions += settleBadge(isSure: !outcome.isChanged && delivered == nil, shown: number)
            if !outcome.done.isEmpty { actions.append(.acknowledge(outcome.done)) }
            if outcome.saysHello || (push.opsNotUnderstood > 0 && mayComplain(now)) { actions.append(.hello(hello)) }
        } catch {
            switch error {
            case .foreign: actions.append(.dropped(.foreign))
            case .notUnderstood:
                actions.append(.dropped(.notUnderstood))
                if mayComplain(now) { actions.append(.hello(hello)) }
            }
        }
        return actions
    }

    /// Why this push is none of ours to act on; nil where it is.
    private func admit(_ push: HushPayload) -> HushDrop? {
        switch account {
        case .loggedOut: return .otherOwner
        case .loggedIn(let recipient):
            if push.to != OwnerTag.of(recipient) { return .otherOwner }
        case .untold:
            // Under one version there is one owner; a higher one may bring another.
            if let tag, let version, push.to != tag, push.version <= version { return .otherOwner }
        }
        if let version, push.version < version { return .lowerVersion }
        return nil
    }

    /// Takes the push's binding version, and drops what another owner left here.
    private mutating func takeVersion(_ push: HushPayload) -> [HushAction] {
        var actions: [HushAction] = []
        if tag != push.to {
            if tag != nil {
                records.removeAll()
                actions.append(.removeAll)
            }
            tag = push.to
        }
        version = push.version
        return actions
    }

    private struct Applied {
        var actions: [HushAction] = []
        var done: [Bytes] = []
        var saysHello = false
        /// Whether anything was new.
        var isChanged = false
        /// The number that what is shown puts on the app's icon.
        var badge: Int64?
    }

    /// Merges all ops first and then compares with what stood before, so that one push never flashes a notification
    /// which its own delete takes back.
    private mutating func apply(_ push: HushPayload, presented: Bytes?, now: Timestamp) -> Applied {
        var applied = Applied()
        var before: [(id: Bytes, standing: Standing)] = []
        var contents: [Bytes: HushContent] = [:]
        var told: [Bytes: Bool] = [:]
        // The revision that the system itself shows.
        var alerted: Int64 = 0
        for named in push.ops {
            // The hello is its own answer: its name is that of an op which it stands beside, or which is parked.
            if case .hello = named.op {} else { applied.done.append(named.name) }
            switch named.op {
            case .bind, .hello: applied.saysHello = true
            case .create(let id, let revision, let content, let isTold):
                let old = records[id] ?? Record()
                if StableIdentifier.of(id) == presented { alerted = max(alerted, revision) }
                if !before.contains(where: { $0.id == id }) { before.append((id, old.standing)) }
                if merge(create: revision, of: id, content, now: now) {
                    contents[id] = HushContent(content)
                    told[id] = isTold
                }
            case .delete(let id, let revision):
                if !before.contains(where: { $0.id == id }) { before.append((id, records[id]?.standing ?? Standing())) }
                touch(id) { $0.standing.delete(through: revision) }
            }
        }
        var removed: [Bytes] = []
        for (id, old) in before {
            guard let new = records[id]?.standing else { continue }
            applied.isChanged = applied.isChanged || new != old
            let identifier = StableIdentifier.of(id)
            if new.isShown, new.created > old.created, var content = contents[id], identifier != presented {
                if content.badge == 0, !isAlone(id) { content.badge = nil }
                applied.badge = content.badge ?? applied.badge
                applied.actions.append(
                    .show(
                        HushNotification(identifier: identifier, id: id, revision: new.created, content: content),
                        sound: !(told[id] ?? false) && new.created > (records[id]?.told ?? 0)))
            } else if !new.isShown, old.isShown || identifier == presented {
                removed.append(identifier)
            } else if identifier == presented, new.created > alerted {
                applied.saysHello = takeBack(identifier)
                removed.append(identifier)
            }
        }
        if !removed.isEmpty { applied.actions.insert(.remove(removed), at: 0) }
        applied.actions += forgetBeyondLimits()
        return applied
    }

    /// An alert put other content in the place of what stood there, and only the sender has that: forgets it, so that a
    /// hello brings it back, without a sound. False where nothing of ours stood there.
    private mutating func takeBack(_ identifier: Bytes) -> Bool {
        let lost = records.first { $0.value.standing.isShown && StableIdentifier.of($0.key) == identifier }
        guard let lost else { return false }
        touch(lost.key) { record in
            record.told = max(record.told, record.standing.created)
            record.standing = Standing(deleted: record.standing.deleted)
        }
        return true
    }

    /// Raises what is created; true where it is the newest content. One that has expired on its way deletes what it
    /// would have replaced.
    private mutating func merge(
        create revision: Int64, of id: Bytes, _ content: PayloadValue, now: Timestamp
    ) -> Bool {
        let expiry = content["expires"]?.integer.map(Timestamp.init(seconds:)) ?? now + HushLimits.life
        var isNew = false
        touch(id) { record in
            if revision > record.standing.created {
                record.expires = expiry
                record.countsBadge = content["badge"] == "auto"
            }
            isNew = record.standing.create(revision)
            if expiry <= now { record.standing.delete(through: revision) }
        }
        return isNew
    }

    /// Whether nothing else is on the screen: a badge of 0 would take it off.
    private func isAlone(_ id: Bytes) -> Bool {
        !records.contains { $0.key != id && $0.value.standing.isShown }
    }

    /// Changes the record of an id and notes that it is the newest change.
    mutating func touch(_ id: Bytes, _ change: (inout Record) -> Void) {
        touches += 1
        change(&records[id, default: Record()])
        records[id]?.touched = touches
    }

    /// Whether a push that was not understood may be answered by a hello: a sender that cannot do better would
    /// otherwise be asked again and again.
    private mutating func mayComplain(_ now: Timestamp) -> Bool {
        if account == .loggedOut { return false }
        if let complained, now >= complained, now - complained < HushLimits.complaintInterval { return false }
        complained = now
        return true
    }
}

/// What bounds the state of an install.
public enum HushLimits {
    /// Notifications on the screen; the oldest leaves.
    public static let shownMax = 256
    /// Ids remembered as gone; the one that changed longest ago is forgotten.
    public static let goneMax = 512
    /// How long a notification stays where its sender did not say: the time for which the sender knows it.
    public static let life: Duration = .seconds(7 * 86_400)
    /// Between two hellos for pushes that were not understood.
    public static let complaintInterval: Duration = .seconds(600)
}
