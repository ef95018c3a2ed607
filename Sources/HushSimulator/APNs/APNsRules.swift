public import HushCore
public import HushKit

/// One request as it came to the simulated APNs.
public struct SimulatedRequest: Sendable {
    public struct Header: Hashable, Sendable {
        /// Lower case; pseudo-headers with their colon.
        public var name: Bytes
        public var value: Bytes

        public init(_ name: Bytes, _ value: Bytes) {
            self.name = name
            self.value = value
        }
    }

    public var headers: [Header]
    public var body: [UInt8]
    /// The body where it is JSON.
    public var payload: PayloadValue?

    public init(headers: [Header], body: [UInt8], payload: PayloadValue?) {
        self.headers = headers
        self.body = body
        self.payload = payload
    }

    /// The value of the first header of that name.
    public subscript(_ name: StaticString) -> Bytes? {
        name.withUTF8Buffer { name in
            let name = UnsafeRawBufferPointer(name)
            return headers.first { $0.name.isEqual(to: name) }?.value
        }
    }

    /// The device token of the path; nil where the path has none.
    public var token: Bytes? {
        guard let path = self[":path"], path.raw.starts(with: APNsRules.path) else { return nil }
        return Bytes(path.raw.dropFirst(APNsRules.path.count))
    }
}

/// What Apple rejects, and with which reason; without state, and without faults of its own.
///
/// From Apple's "Sending notification requests to APNs" and "Handling notification responses from APNs". Where Apple
/// accepts a push and then never shows it (a push type that does not fit the payload), the simulator rejects it, so that
/// the mistake is found.
public struct APNsRules: Sendable {
    static let path = Array("/3/device/".utf8)
    /// The largest payload, in bytes.
    public static let payloadBytesMax = 4096

    /// The topics that may be pushed to.
    public var topics: Set<Bytes>
    /// The name of the reason for which a value of `authorization` is refused, nil where it is good; none: anything is
    /// taken, for benchmarks. See `ProviderTokenVerifier`.
    public var provider: ProviderCheck?

    public typealias ProviderCheck = @Sendable (_ authorization: Bytes?, _ now: Timestamp) -> Bytes?

    public init(topics: Set<Bytes>, provider: ProviderCheck?) {
        self.topics = topics
        self.provider = provider
    }

    /// The reason of a rejection; nil where the request is good.
    public func check(_ request: SimulatedRequest, now: Timestamp) -> APNsReason? {
        let name =
            checkRoute(request) ?? provider?(request["authorization"], now) ?? checkHeaders(request)
            ?? checkPayload(request)
        return name.map(Self.reason)
    }

    /// The one table's row of a reason.
    static func reason(_ name: Bytes) -> APNsReason {
        guard let row = APNsReason.all.first(where: { $0.name == name }) else {
            preconditionFailure("APNsReason.all has no row \(name)")
        }
        return row
    }

    private func checkRoute(_ request: SimulatedRequest) -> Bytes? {
        for (index, header) in request.headers.enumerated() {
            for other in request.headers[..<index] where other.name == header.name { return "DuplicateHeaders" }
        }
        if request[":method"] != Self.post { return "MethodNotAllowed" }
        guard let token = request.token else { return "BadPath" }
        if token.isEmpty { return "MissingDeviceToken" }
        return token.count.isMultiple(of: 2) && token.count >= 8 && Hex.isHex(token.raw) ? nil : "BadDeviceToken"
    }

    private func checkHeaders(_ request: SimulatedRequest) -> Bytes? {
        guard let topic = request["apns-topic"], !topic.isEmpty else { return "MissingTopic" }
        if !topics.contains(topic) { return "TopicDisallowed" }
        if let id = request["apns-id"], !Self.isLowerCaseUUID(id) { return "BadMessageId" }
        if let expiration = request["apns-expiration"], Self.decimal(expiration) == nil { return "BadExpirationDate" }
        if let collapse = request["apns-collapse-id"], collapse.isEmpty || collapse.count > StableIdentifier.bytesMax {
            return "BadCollapseId"
        }
        guard let type = request["apns-push-type"], type == Self.alert || type == Self.background else {
            return "InvalidPushType"
        }
        let priority = request["apns-priority"].map { Self.decimal($0) } ?? 10
        guard let priority, [1, 5, 10].contains(priority) else { return "BadPriority" }
        return type == Self.background && priority != 5 ? "BadPriority" : nil
    }

    private func checkPayload(_ request: SimulatedRequest) -> Bytes? {
        if request.body.isEmpty { return "PayloadEmpty" }
        if request.body.count > Self.payloadBytesMax { return "PayloadTooLarge" }
        guard let aps = request.payload?[Self.aps], aps.object != nil else { return "PayloadEmpty" }
        let alerts = Self.alertKeys.contains { aps[$0] != nil }
        if request["apns-push-type"] == Self.background {
            return aps[Self.contentAvailable] == 1 && !alerts ? nil : "InvalidPushType"
        }
        return alerts ? nil : "InvalidPushType"
    }

    // Made once: a literal would be copied into a new array at each use.
    private static let post: Bytes = "POST"
    static let alert: Bytes = "alert"
    private static let background: Bytes = "background"
    private static let aps: Bytes = "aps"
    private static let contentAvailable: Bytes = "content-available"
    private static let alertKeys: [Bytes] = ["alert", "sound", "badge"]

    private static func isLowerCaseUUID(_ text: Bytes) -> Bool {
        guard text.count == 36 else { return false }
        return text.raw.enumerated().allSatisfy { index, byte in
            if index == 8 || index == 13 || index == 18 || index == 23 { return byte == UInt8(ascii: "-") }
            return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
    }

    private static func decimal(_ text: Bytes) -> Int64? {
        guard text.raw.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(text.text)
    }
}
