public import HushBase

/// Serves metrics and probes over HTTP, from a thread of its own.
public final class AdminServer: Sendable {
    private let server: HTTPServer

    /// Listens at once; port 0 takes a free one.
    ///
    /// - Throws: `HTTPServerFault` where the address cannot be listened on.
    public init(
        host: String, port: Int, metrics: Metrics, health: Health, snapshots: SnapshotKeeper? = nil
    ) throws(HTTPServerFault) {
        metrics.gauge("hush_build_info", "What runs; always 1.", [("version", Build.version)]).set(1)
        let routes = AdminRoutes(metrics: metrics, health: health, snapshots: snapshots)
        server = try HTTPServer(name: "admin", host: host, port: port) { request in
            routes.answer(request, now: MonotonicTime.now(), wallMillis: WallClock.nowMillis())
        }
    }

    /// The port it listens on.
    public var port: Int { server.port }

    /// Ends the server and waits for its thread.
    public func close() {
        server.close()
    }
}
