import HushBase

/// What the admin port answers: `/metrics`, `/livez`, `/readyz`.
struct AdminRoutes: Sendable {
    let metrics: Metrics
    let health: Health

    func answer(_ request: HTTPRequest, now: MonotonicTime) -> HTTPAnswer {
        guard request.method == .get || request.method == .head else {
            return HTTPAnswer(status: 405, headers: [("Allow", "GET, HEAD")], text: "only GET and HEAD\n")
        }
        switch request.path {
        case "/metrics":
            let type = "text/plain; version=0.0.4; charset=utf-8"
            return HTTPAnswer(status: 200, headers: [("Content-Type", type)], text: metrics.render())
        case "/livez": return answer(health.liveness(now))
        case "/readyz": return answer(health.readiness())
        default: return HTTPAnswer(status: 404, text: "there are /metrics, /livez and /readyz\n")
        }
    }

    private func answer(_ report: Health.Report) -> HTTPAnswer {
        let verdict = report.isGood ? "ok" : "not ok"
        return HTTPAnswer(
            status: report.isGood ? 200 : 503, text: ([verdict] + report.lines).joined(separator: "\n") + "\n")
    }
}
