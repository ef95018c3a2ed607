/// A request to one of our HTTP ports.
struct HTTPRequest: Sendable {
    enum Method: Hashable, Sendable {
        case get
        case head
        case post
        case other
    }

    var method: Method
    /// Without its query.
    var path: String
    /// Whether it has a query or a body.
    var hasParameters = false
}

/// An answer; without another `Content-Type` its text is plain.
struct HTTPAnswer: Sendable {
    var status: Int32
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    init(status: Int32, headers: [(name: String, value: String)] = [], text: String) {
        self.status = status
        self.headers = headers
        body = Array(text.utf8)
    }
}

/// Why a port cannot be served.
public struct HTTPServerFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}
