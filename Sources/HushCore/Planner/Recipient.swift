/// A device of a recipient, and the version under which its address is bound.
public struct RegisteredDevice: Hashable, Sendable {
    public var registration: Registration
    public var address: Address
    public var version: BindingVersion
    /// Where the last register stands that changed nothing. Told of a loss older than this, the planner binds anew
    /// under it, for the app has made itself known since.
    public var renewed: BindingVersion?

    public init(
        registration: Registration, address: Address, version: BindingVersion, renewed: BindingVersion? = nil
    ) {
        self.registration = registration
        self.address = address
        self.version = version
        self.renewed = renewed
    }

    /// The last register of this device that was taken in.
    var latest: BindingVersion { renewed ?? version }

    /// Whether a register says what is known already, so that it only renews. Tags address audiences and bind nothing;
    /// `fresh` is no change either, for every wipe makes a new install.
    func isRenewed(by other: Registration) -> Bool {
        registration.token == other.token && registration.app == other.app
            && registration.environment == other.environment && registration.dialect == other.dialect
            && registration.acks == other.acks && registration.install == other.install
    }

    var binding: Binding {
        Binding(
            owner: registration.recipient, device: registration.device, install: registration.install,
            token: registration.token, app: registration.app, environment: registration.environment,
            dialect: registration.dialect, acks: registration.acks, version: version)
    }
}

/// A device that is gone; it keeps a register that was re-keyed, and so comes late, from bringing it back.
public struct DepartedDevice: Hashable, Sendable {
    public var device: Bytes
    public var at: BindingVersion

    public init(device: Bytes, at: BindingVersion) {
        self.device = device
        self.at = at
    }
}

/// A recipient's devices, in the order of their ids, at most one for each address.
public struct Recipient: Hashable, Sendable {
    public var devices: [RegisteredDevice]
    public var departed: [DepartedDevice]

    public static let departedMax = 16

    public init(devices: [RegisteredDevice] = [], departed: [DepartedDevice] = []) {
        self.devices = devices
        self.departed = departed
    }

    func index(ofDevice device: Bytes) -> Int? {
        devices.firstIndex { $0.registration.device == device }
    }

    func index(of address: Address) -> Int? {
        devices.firstIndex { $0.address == address }
    }

    mutating func insert(_ device: RegisteredDevice) {
        let place = devices.firstIndex { $0.registration.device > device.registration.device } ?? devices.count
        devices.insert(device, at: place)
        departed.removeAll { $0.device == device.registration.device }
    }

    /// Remembers that a device left, dropping what left before `horizon` and the oldest above the limit.
    mutating func depart(_ device: Bytes, at version: BindingVersion, horizon: Timestamp) {
        departed.removeAll { $0.at.at < horizon || $0.device == device && $0.at <= version }
        guard !departed.contains(where: { $0.device == device }) else { return }
        departed.append(DepartedDevice(device: device, at: version))
        departed.sort { $0.at < $1.at }
        if departed.count > Self.departedMax { departed.removeFirst(departed.count - Self.departedMax) }
    }

    /// Whether something newer than a register at `version` is known of its device or its address.
    func outdates(_ registration: Registration, _ address: Address, at version: BindingVersion) -> Bool {
        devices.contains {
            ($0.registration.device == registration.device || $0.address == address) && $0.latest >= version
        } || departed.contains { $0.device == registration.device && $0.at >= version }
    }
}
