import HushCore
import HushKit

extension SimulatedRequest {
    /// A push as the client would send it.
    init(_ push: OutgoingPush, payload: PayloadValue) {
        var headers: [Header] = []
        headers.reserveCapacity(9)
        headers.append(Self.post)
        headers.append(Header(Self.path, Bytes(APNsRules.path + push.token.raw)))
        headers.append(Header(Self.topic, push.app))
        headers.append(push.isAlert ? Self.alert : Self.background)
        headers.append(push.priority == 10 ? Self.immediate : Self.considerate)
        headers.append(Header(Self.apnsID, Bytes(push.apnsID)))
        if let expires = push.expires { headers.append(Header(Self.expiration, Bytes("\(expires.seconds)"))) }
        if let collapseID = push.collapseID { headers.append(Header(Self.collapseID, collapseID)) }
        self.init(headers: headers, body: push.payload, payload: payload)
    }

    // Made once: a literal would be copied into a new array at each use.
    private static let post = Header(":method", "POST")
    private static let alert = Header("apns-push-type", "alert")
    private static let background = Header("apns-push-type", "background")
    private static let immediate = Header("apns-priority", "10")
    private static let considerate = Header("apns-priority", "5")
    private static let path: Bytes = ":path"
    private static let topic: Bytes = "apns-topic"
    private static let apnsID: Bytes = "apns-id"
    private static let expiration: Bytes = "apns-expiration"
    private static let collapseID: Bytes = "apns-collapse-id"
}
