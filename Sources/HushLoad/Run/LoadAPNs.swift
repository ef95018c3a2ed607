import HushBase
import HushCore
import HushKit
import HushSimulator

/// The simulated APNs of a load test, and what it accepted.
final class LoadAPNs {
    /// An op that APNs answered with 200, and when the answer left.
    struct Accept: Sendable {
        var trial: Int
        var subject: Int
        var isCreate: Bool
        /// Stands for the token.
        var device: UInt64
        var at: MonotonicTime
    }

    let apns: SimulatedAPNs
    private let accepts: Mailbox<Accept>
    private var batch: [Accept] = []

    /// Accepts that wait for the tracker; a turn takes all.
    private static let acceptsMax = 1 << 20

    init(_ options: LoadOptions) throws {
        let accepts = Mailbox<Accept>(capacity: Self.acceptsMax, wakeUp: try WakeUp())
        self.accepts = accepts
        var simulated = SimulatedAPNsOptions(directory: options.directory, topics: [LoadRecords.app])
        simulated.faults = options.faults
        simulated.seed = options.mix.seed
        let prefix = Array(options.mix.idPrefix.utf8)
        apns = try SimulatedAPNs(
            simulated,
            onAccept: { push in
                guard push.isAnswered else { return }
                let at = MonotonicTime.now() + push.answerAfter
                let device = FNV1a.hash(push.token.raw)
                for op in push.payload["hush"]?["ops"]?.array ?? [] {
                    guard let parts = op.array, parts.count > 2, let id = parts[2].id, id.raw.starts(with: prefix)
                    else {
                        continue
                    }
                    let numbers = id.raw.dropFirst(prefix.count).split(separator: UInt8(ascii: "-"))
                        .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
                    guard numbers.count == 2 else { continue }
                    // A full mailbox would mean that the tracker stands still; the item is then never accepted, and told.
                    _ = accepts.offer(
                        Accept(
                            trial: numbers[0], subject: numbers[1], isCreate: parts[1].string == "c", device: device,
                            at: at))
                }
            })
    }

    /// Tells the tracker what was accepted since.
    func turn(_ tracker: inout LoadTracker, trial: Int) {
        accepts.takeAll(into: &batch)
        for accept in batch where accept.trial == trial {
            if accept.isCreate {
                tracker.accepted(create: accept.subject, device: accept.device, at: accept.at)
            } else {
                tracker.accepted(clear: accept.subject, at: accept.at)
            }
        }
    }

    /// How workers reach it.
    var arguments: [String] {
        [
            "--apns.production=localhost:\(apns.port)", "--apns.sandbox=localhost:\(apns.port)",
            "--apns.ca.file=\(apns.caFile)", "--apns.key.file=\(apns.tokenKeyFile)", "--apns.key.id=\(apns.keyID)",
            "--apns.team.id=\(apns.teamID)",
        ]
    }

    func close() { apns.close() }
}
