import HushBase
import Synchronization

/// A route as all loops share it: its credential changes when its files do.
final class RouteContext: Sendable {
    /// What connections are opened with. Versions only grow; one of an older version is replaced.
    struct Secured: Sendable {
        var context: TLSContext
        var version: UInt32
    }

    let route: APNsConfiguration.Route
    /// Nil where the credential is a certificate.
    let token: ProviderToken?
    private let tls: Mutex<Secured>
    /// Counts the changes of the credential, for the client's owner.
    let credentialVersion = Atomic<UInt64>(0)

    init(route: APNsConfiguration.Route, tls: TLSContext, token: ProviderToken?) {
        self.route = route
        self.token = token
        self.tls = Mutex(Secured(context: tls, version: 1))
    }

    var secured: Secured { tls.withLock { $0 } }

    func replace(_ context: TLSContext) {
        tls.withLock { $0 = Secured(context: context, version: $0.version + 1) }
    }
}
