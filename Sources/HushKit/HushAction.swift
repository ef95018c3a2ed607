public import HushCore

/// What the app is to do now, in this order; see `HushInbox`.
public enum HushAction: Hashable, Sendable {
    /// Put this on the screen, in place of what has its identifier. Without `sound` nothing may ring, buzz or light up:
    /// the person has been told of it before.
    case show(HushNotification, sound: Bool)
    /// Take these off the screen, waiting ones too; those that are not there are no error.
    case remove([Bytes])
    /// Take everything of ours off the screen: every identifier for which `StableIdentifier.isOurs` holds.
    case removeAll
    /// Put this number on the app's icon. It is 0 only where no notification of ours stands.
    case badge(Int64)
    /// Tell that these ops are done; repeat until it is taken.
    case acknowledge([Bytes])
    /// Tell what is on the screen and what is gone; repeat until it is taken, or until a newer hello is.
    case hello(HushHello)
    /// Tell that a notification was read or dismissed here.
    case report(HushReport)
    /// Make this install known; after the requests before it, never beside them.
    case register(HushRegistration)
    case unregister(HushUnregistration)
    /// A push was not for this person or this binding, and nothing of it was done.
    case dropped(HushDrop)
}

/// Why a push was dropped.
public enum HushDrop: Hashable, Sendable {
    /// Nobody is logged in, or somebody else.
    case otherOwner
    /// It was sent under a binding that a newer one has replaced.
    case lowerVersion
    /// It is of a version that this build does not know.
    case notUnderstood
    /// It is no push of ours.
    case foreign
}

/// What is on the screen, and what this install holds as gone, each with the revision.
public struct HushHello: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var id: Bytes
        public var revision: Int64

        public init(id: Bytes, revision: Int64) {
            self.id = id
            self.revision = revision
        }
    }

    /// In the order of their ids.
    public var shown: [Entry]
    /// In the order of their ids; the revision is the one deleted through, `Standing.everyRevision` for all.
    public var gone: [Entry]

    public init(shown: [Entry], gone: [Entry]) {
        self.shown = shown
        self.gone = gone
    }
}

/// A read or a dismissal, as it goes to `hush.reads`.
public struct HushReport: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable {
        case read
        case dismissed
    }

    public var kind: Kind
    public var id: Bytes
    /// The revision that was seen; nil where the app read something that never was a notification here.
    public var revision: Int64?
    public var device: Bytes
    public var install: Bytes

    public init(kind: Kind, id: Bytes, revision: Int64?, device: Bytes, install: Bytes) {
        self.kind = kind
        self.id = id
        self.revision = revision
        self.device = device
        self.install = install
    }
}

/// What a register says beside the app's own constants (topic, environment, tags).
public struct HushRegistration: Hashable, Sendable {
    public var recipient: Bytes
    public var device: Bytes
    public var install: Bytes
    /// Lower-case hex.
    public var token: Bytes
    /// Whether this install holds nothing yet.
    public var fresh: Bool

    public init(recipient: Bytes, device: Bytes, install: Bytes, token: Bytes, fresh: Bool) {
        self.recipient = recipient
        self.device = device
        self.install = install
        self.token = token
        self.fresh = fresh
    }
}

public struct HushUnregistration: Hashable, Sendable {
    public var recipient: Bytes
    public var device: Bytes

    public init(recipient: Bytes, device: Bytes) {
        self.recipient = recipient
        self.device = device
    }
}
