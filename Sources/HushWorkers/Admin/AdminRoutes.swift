import HushBase
import HushCore

/// What the admin port answers: `/metrics`, `/livez`, `/readyz`, `/snapshot`.
struct AdminRoutes: Sendable {
    let metrics: Metrics
    let health: Health
    /// Nil where nothing is planned.
    let snapshots: SnapshotKeeper?

    func answer(_ request: HTTPRequest, now: MonotonicTime, wallMillis: Int64) -> HTTPAnswer {
        if request.path == "/snapshot", request.method == .post {
            return beginSnapshot(request, Timestamp(millis: wallMillis))
        }
        guard request.method == .get || request.method == .head else {
            return HTTPAnswer(status: 405, headers: [("Allow", "GET, HEAD")], text: "only GET and HEAD\n")
        }
        switch request.path {
        case "/metrics":
            let type = "text/plain; version=0.0.4; charset=utf-8"
            return HTTPAnswer(status: 200, headers: [("Content-Type", type)], text: metrics.render())
        case "/livez": return answer(health.liveness(now))
        case "/readyz": return answer(health.readiness())
        case "/snapshot":
            guard let last = snapshots?.last else {
                return HTTPAnswer(status: 404, text: "no snapshot was asked for: POST does\n")
            }
            return answer(200, last)
        default: return HTTPAnswer(status: 404, text: "there are /metrics, /livez, /readyz and /snapshot\n")
        }
    }

    private func answer(_ report: Health.Report) -> HTTPAnswer {
        let verdict = report.isGood ? "ok" : "not ok"
        return HTTPAnswer(
            status: report.isGood ? 200 : 503, text: ([verdict] + report.lines).joined(separator: "\n") + "\n")
    }

    private func beginSnapshot(_ request: HTTPRequest, _ now: Timestamp) -> HTTPAnswer {
        guard !request.hasParameters else {
            return HTTPAnswer(status: 400, text: "a snapshot takes no parameters, neither a query nor a body\n")
        }
        guard let snapshots else { return HTTPAnswer(status: 503, text: "nothing is planned in this process\n") }
        do throws(SnapshotKeeper.Refusal) {
            return answer(202, try snapshots.begin(at: now))
        } catch {
            switch error {
            case .busy(let reason): return HTTPAnswer(status: 409, text: "\(reason)\n")
            case .waiting(let reason): return HTTPAnswer(status: 503, text: "\(reason)\n")
            case .full(let reason): return HTTPAnswer(status: 507, text: "\(reason)\n")
            case .broken(let reason): return HTTPAnswer(status: 500, text: "\(reason)\n")
            }
        }
    }

    private func answer(_ status: Int32, _ report: SnapshotKeeper.Report) -> HTTPAnswer {
        var json = JSONWriter()
        json.raw("{\"state\":")
        json.string(Bytes(report.state.rawValue))
        json.raw(",\"path\":")
        json.string(Bytes(report.path))
        json.raw(",\"partitions\":[")
        json.raw(Array(report.partitions.map(String.init).joined(separator: ",").utf8))
        json.raw("],\"reason\":")
        json.string(Bytes(report.reason))
        json.raw("}\n")
        return HTTPAnswer(
            status: status, headers: [("Content-Type", "application/json")],
            text: String(decoding: json.bytes, as: UTF8.self))
    }
}
