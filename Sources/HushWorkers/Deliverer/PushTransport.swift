public import HushAPNs
public import HushBase

/// What carries pushes to APNs and answers back: `APNsClient`, or a stand-in in tests and simulations.
public protocol PushTransport: AnyObject {
    /// Takes the first of a batch, as many as there is room for; returns how many. Each gets exactly one answer.
    func submit(_ batch: [PushRequest]) -> Int

    /// Takes all answers that are there into `answers`, whose own elements are dropped.
    func drain(into answers: inout [PushAnswer])

    /// Signalled when answers wait.
    var wakeUp: WakeUp { get }

    /// How many pushes it holds at most, from `submit` to their answers.
    var capacity: Int { get }

    /// Whether it found by itself that the process stood still, and refuses pushes until `resume`.
    var isHalted: Bool { get }

    func resume()

    /// Counts how often the credential of a route was replaced.
    func credentialVersion(route: Int) -> UInt64

    /// Ends all connections without another byte, and answers what was under way.
    func dropConnections()
}

extension PushTransport {
    /// A stand-in's credentials are what they are.
    public func credentialVersion(route: Int) -> UInt64 { 0 }
}

extension APNsClient: PushTransport {}
