import Foundation
import HushBase
import HushCore
import HushStream
import HushWorkers
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct AdminServerTests {
    private let metrics = Metrics()
    private let health = Health(stallMax: .seconds(30))

    private func get(_ server: AdminServer, _ path: String, method: String = "GET") async throws -> (
        Int, String, String
    ) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)")))
        request.httpMethod = method
        request.timeoutInterval = 20
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let (body, response) = try await session.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        let type = answer.value(forHTTPHeaderField: "Content-Type") ?? ""
        return (answer.statusCode, type, String(decoding: body, as: UTF8.self))
    }

    @Test("metrics come in Prometheus' text format with the build's version")
    func metricsText() async throws {
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        defer { server.close() }
        metrics.counter("hush_inputs_total", "Inputs.").add(3)
        let (status, type, text) = try await get(server, "/metrics")
        #expect(status == 200)
        #expect(type == "text/plain; version=0.0.4; charset=utf-8")
        #expect(text.contains("hush_build_info{version=\"\(Build.version)\"} 1\n"))
        #expect(text.contains("hush_inputs_total 3\n"))
    }

    @Test("the process is alive while its loops turn, and not when one is stuck")
    func liveness() async throws {
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        defer { server.close() }
        let pulse = health.watch("plan-0", now: MonotonicTime.now())
        let (status, _, text) = try await get(server, "/livez")
        #expect(status == 200)
        #expect(text.hasPrefix("ok\nplan-0: turns"))

        pulse.turned(MonotonicTime(nanos: MonotonicTime.now().nanos - 31_000_000_000))
        let (stuck, _, reason) = try await get(server, "/livez?verbose")
        #expect(stuck == 503)
        #expect(reason.hasPrefix("not ok\nplan-0: stuck"))
    }

    @Test("10: the process is not alive while a slot takes nothing of what there is, and /livez says of which input")
    func progress() async throws {
        // The loop is not to be stuck as well, however long a busy machine takes.
        let health = Health(stallMax: .seconds(86_400))
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        defer { server.close() }
        _ = health.watch("deliver-0", now: MonotonicTime.now())
        let stall = Stall(slot: "deliver-0", topic: "hush.pushes", partition: 3, lasting: .seconds(312), lag: 1204)
        health.set("deliver-0", stalls: ["\(stall)"])
        let (status, _, text) = try await get(server, "/livez")
        #expect(status == 503)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "not ok" && lines[1].hasPrefix("deliver-0: turns, "))
        #expect(lines[2] == "deliver-0: nothing was taken of hush.pushes-3 for 312 s, and it is 1204 behind")
        health.set("deliver-0", stalls: [])
        #expect(try await get(server, "/livez").0 == 200)
    }

    @Test("the process is ready once every part is, and never without parts")
    func readiness() async throws {
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        defer { server.close() }
        #expect(try await get(server, "/readyz").0 == 503)
        health.set("plan-0", waitsFor: nil)
        health.set("plan-1", waitsFor: "restoring 3 partitions")
        let (waiting, _, text) = try await get(server, "/readyz")
        #expect(waiting == 503)
        #expect(text == "not ok\nplan-0: ready\nplan-1: waits: restoring 3 partitions\n")
        health.set("plan-1", waitsFor: nil)
        #expect(try await get(server, "/readyz").0 == 200)
    }

    @Test("other paths are 404, other methods 405, and HEAD has no body")
    func refusals() async throws {
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        defer { server.close() }
        #expect(try await get(server, "/").0 == 404)
        #expect(try await get(server, "/metrics", method: "POST").0 == 405)
        let head = try await get(server, "/metrics", method: "HEAD")
        #expect(head.0 == 200)
        #expect(head.2.isEmpty)
    }

    @Test("a snapshot is begun by a POST without parameters alone, and only where something is planned")
    func snapshots() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-admin-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let stream = PlannerConfiguration.stream(slotName: "s", partitionCount: 2, pushesPartitionCount: 2)
        let keeper = SnapshotKeeper(
            home: try StateHome(directory: directory), stream: stream, policy: Policy(), build: "test",
            metrics: metrics, log: Log("test", to: .standardError(level: .error, format: .json)))
        let server = try AdminServer(
            host: "127.0.0.1", port: 0, metrics: metrics, health: health, snapshots: keeper)
        defer { server.close() }
        #expect(try await get(server, "/snapshot").0 == 404)
        let idle = try await get(server, "/snapshot", method: "POST")
        #expect(idle.0 == 503 && idle.2 == "no partition of the planner is worked on here\n")
        #expect(try await get(server, "/snapshot?to=/tmp/x", method: "POST").0 == 400)
        #expect(try await get(server, "/snapshot", method: "PUT").0 == 405)
        #expect(!FileManager.default.fileExists(atPath: keeper.directory))
        let asked = try AdminClient.ask(host: "127.0.0.1", port: server.port, method: "POST", path: "/snapshot")
        #expect(asked.status == 503 && asked.body == idle.2)

        let other = try AdminServer(host: "127.0.0.1", port: 0, metrics: Metrics(), health: health)
        defer { other.close() }
        let none = try await get(other, "/snapshot", method: "POST")
        #expect(none.0 == 503 && none.2 == "nothing is planned in this process\n")
    }

    @Test("a port that is taken and a host that is none are errors that say so")
    func faults() throws {
        let server = try AdminServer(host: "127.0.0.1", port: 0, metrics: metrics, health: health)
        let taken = #expect(throws: HTTPServerFault.self) {
            try AdminServer(host: "127.0.0.1", port: server.port, metrics: metrics, health: health)
        }
        #expect(taken?.description.contains("Address already in use") == true)
        server.close()
        let again = try AdminServer(host: "127.0.0.1", port: server.port, metrics: metrics, health: health)
        again.close()
        again.close()
        #expect(throws: HTTPServerFault.self) {
            try AdminServer(host: "no such host", port: 0, metrics: metrics, health: health)
        }
    }
}
