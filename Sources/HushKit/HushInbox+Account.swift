public import HushCore

extension HushInbox {
    /// Somebody is logged in; to be called at every launch, and does nothing where it is known.
    ///
    /// What another person left here is wiped at once, before any push says so.
    /// `newInstall` is a random id, for where the state is wiped.
    public mutating func loggedIn(_ recipient: Bytes, newInstall: Bytes) -> [HushAction] {
        var actions: [HushAction] = []
        switch account {
        case .loggedIn(let current):
            if current == recipient { return [] }
            actions += wipe(newInstall)
            actions.append(.unregister(HushUnregistration(recipient: current, device: device)))
        case .untold:
            if let tag, tag != OwnerTag.of(recipient) { actions += wipe(newInstall) }
        case .loggedOut: break
        }
        account = .loggedIn(recipient)
        tag = OwnerTag.of(recipient)
        return actions + registration
    }

    /// Nobody is logged in any more: the screen is cleared, and pushes are dropped until the next login.
    public mutating func loggedOut(newInstall: Bytes) -> [HushAction] {
        var actions = wipe(newInstall)
        if case .loggedIn(let recipient) = account {
            actions.append(.unregister(HushUnregistration(recipient: recipient, device: device)))
        }
        account = .loggedOut
        return actions
    }

    /// APNs gave its token; to be called at every launch, for a register that changes nothing is cheap and a lost one
    /// is not. The token is hex of either case.
    ///
    /// `newInstall` is a random id, which is taken where the token is another than before: this may be a backup on
    /// another phone, and two phones must not answer to one name. What is on the screen stays.
    public mutating func registered(token: Bytes, newInstall: Bytes? = nil) -> [HushAction] {
        let token = Bytes(token.raw.map { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) ? $0 | 0x20 : $0 })
        if let newInstall, let old = self.token, old != token { install = newInstall }
        self.token = token
        return registration
    }

    /// The sender takes this token for another person's, although somebody is logged in here: registers again, once for
    /// each of its bindings. One older than our own is a late push, and needs no answer.
    mutating func claim(_ theirs: BindingVersion) -> [HushAction] {
        if let version, theirs < version { return [] }
        if let answered, theirs <= answered { return [] }
        guard !registration.isEmpty else { return [] }
        answered = theirs
        // As another install, for a register that changes nothing binds nothing anew; named by what is at hand, for an
        // inbox has no dice.
        install = OwnerTag.of(Bytes("\(install) \(theirs.at.millis) \(theirs.partition) \(theirs.offset)"))
        return registration
    }

    /// Empty until there are both a person and a token.
    private var registration: [HushAction] {
        guard case .loggedIn(let recipient) = account, let token else { return [] }
        return [
            .register(
                HushRegistration(
                    recipient: recipient, device: device, install: install, token: token,
                    fresh: records.isEmpty && version == nil))
        ]
    }

    private mutating func wipe(_ newInstall: Bytes) -> [HushAction] {
        records.removeAll()
        (tag, version, complained, answered) = (nil, nil, nil, nil)
        install = newInstall
        return [.removeAll] + settleBadge()
    }
}
