import HushBase
import HushCore
import HushStream
import HushWorkers

/// Reads `hush.ledger` behind a run, and tells the tracker what was planned and what was delivered.
final class LedgerFollower {
    private let reader: RecordReader
    private let document = JSONDocument()
    /// Of the trial under way.
    var records: LoadRecords {
        didSet { acceptedCreates = 0 }
    }
    private let recipientPrefix: [UInt8]
    /// Whether outcomes stand for APNs' answers: where nobody else tells of these.
    private let measuresAccepts: Bool
    /// What a broker's time is in ours.
    private let clockOffsetNanos: Int64
    private(set) var registered = 0
    /// Creates of the trial under way that were accepted, by their lines.
    private(set) var acceptedCreates = 0
    /// By outcome, lines' ops.
    private(set) var outcomes: [String: Int] = [:]
    private(set) var decisions: [String: Int] = [:]

    /// Lines that are taken in one turn at most.
    private static let linesMax = 4000

    init(
        _ kafka: KafkaConfiguration, records: LoadRecords, run: String, measuresAccepts: Bool, log: StreamLog
    ) throws {
        // Times are the brokers', so that the reader may come late, and cost them little.
        let gentle = try KafkaConfiguration(
            bootstrapServers: kafka.bootstrapServers,
            properties: kafka.properties.merging(["fetch.min.bytes": "1000000", "fetch.wait.max.ms": "250"]) {
                given, _ in given
            })
        reader = try RecordReader(gentle, topics: [Topic.ledger.name], from: .end, name: "hush-load", log: log)
        self.records = records
        recipientPrefix = Array(run.utf8)
        self.measuresAccepts = measuresAccepts
        clockOffsetNanos = MonotonicTime.now().nanos - WallClock.nowMillis() * 1_000_000
    }

    /// Takes what has come.
    func turn(_ tracker: inout LoadTracker) throws {
        for _ in 0..<Self.linesMax {
            guard let record = try reader.next(within: .zero) else { return }
            let at = MonotonicTime(nanos: record.timeMillis * 1_000_000 + clockOffsetNanos)
            record.value?.withUnsafeBytes { bytes in
                // What is no JSON is none of ours.
                guard let line = try? document.parse(bytes) else { return }
                take(line, at, &tracker)
            }
        }
    }

    private func isOurs(_ value: JSONValue?) -> Bool {
        value.map { $0.text.starts(with: recipientPrefix) } ?? false
    }

    private func text(_ value: JSONValue?) -> String { value.map { String(decoding: $0.text, as: UTF8.self) } ?? "" }

    private func take(_ line: JSONValue, _ at: MonotonicTime, _ tracker: inout LoadTracker) {
        if let decision = line["decision"] {
            let name = text(decision)
            guard let recipient = line["recipient"] else { return takeFanout(line, name, at, &tracker) }
            guard isOurs(recipient) else { return }
            decisions[name, default: 0] += 1
            switch name {
            case "registered": registered += 1
            // Told under the record that needed the room, which has a line of its own.
            case "evicted": return
            default:
                let subject = line["id"].flatMap { records.index(of: $0.text) }
                tracker.planned(subject, isNew: name == "planned" || name == "waiting", at: at)
            }
        } else if let outcome = line["outcome"], let ops = line["ops"] {
            takeOutcome(text(outcome), ops, at, &tracker)
        }
    }

    /// An audience's intent has its line where it is copied to all partitions; what these do about it is their work.
    private func takeFanout(_ line: JSONValue, _ name: String, _ at: MonotonicTime, _ tracker: inout LoadTracker) {
        guard name == "fanout" || name == "sliced", let id = line["id"], let subject = records.index(of: id.text) else {
            return
        }
        decisions[name, default: 0] += 1
        if name == "fanout" { tracker.planned(subject, isNew: false, at: at) }
    }

    private func takeOutcome(_ name: String, _ ops: JSONValue, _ at: MonotonicTime, _ tracker: inout LoadTracker) {
        for op in ops.children where isOurs(op["recipient"]) {
            outcomes[name, default: 0] += 1
            guard name == "accepted", let subject = op["id"].flatMap({ records.index(of: $0.text) }) else { continue }
            let isCreate = text(op["kind"]) == "create"
            if isCreate {
                acceptedCreates += 1
                tracker.delivered(subject, at: at)
            }
            guard measuresAccepts else { continue }
            if isCreate {
                let device = FNV1a.hash([UInt8](op["recipient"]?.text ?? UnsafeRawBufferPointer(start: nil, count: 0)))
                tracker.accepted(create: subject, device: device, at: at)
            } else {
                tracker.accepted(clear: subject, at: at)
            }
        }
    }
}
