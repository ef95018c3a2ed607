import HushCore
import HushStream
import HushWorkers

/// What `hush.pushes` holds, push by push as a hash, against what a replay makes.
///
/// Two pushes are the same where partition, key and value are, byte by byte but for a collision of 64 bits under a key
/// that is drawn anew for each run.
struct PushTable {
    /// Until when and from when on what is recorded must be replayed, by planner partition.
    struct Span: Hashable {
        var after: Timestamp
        var through: Timestamp
        /// The same for pushes that name no cause: some of their inputs were deleted until then.
        var causelessAfter = Timestamp.distantPast
    }

    /// A push that was made and not found.
    private struct Lacking {
        var count = 0
        var difference: ReplayDifference?
        var partition: Int32
        /// Which of them it was, in the order of the replay.
        var number: Int
    }

    private let hash: KeyedHash
    private var recorded: [UInt64: UInt32] = [:]
    private var lacking: [UInt64: Lacking] = [:]
    private(set) var read = 0
    /// Pushes that were decided earlier may be deleted.
    var from = Timestamp.distantPast
    private let document = JSONDocument()

    init(_ random: inout some RandomNumberGenerator) {
        hash = KeyedHash(&random)
    }

    private func hash(_ partition: Int32, _ key: Slice, _ value: Slice) -> UInt64 {
        hash.hash(value, hash.hash(key, UInt64(UInt32(bitPattern: partition)) &+ 1))
    }

    private func hash(_ record: InputRecord) -> UInt64 {
        let none = Slice(start: nil, count: 0)
        return hash(record.partition, record.key ?? none, record.value ?? none)
    }

    /// Whether a record is a planner's own: one that was redriven is there twice.
    private static func isPlanned(_ record: InputRecord) -> Bool {
        !RedriveHistory.isCarried(by: record.headers)
    }

    /// Takes a record of `hush.pushes` in; before the replay, and after it what came meanwhile.
    mutating func take(_ record: InputRecord) {
        guard Self.isPlanned(record) else { return }
        read += 1
        let word = hash(record)
        if var missing = lacking[word], missing.count > 0 {
            missing.count -= 1
            lacking[word] = missing.count > 0 ? missing : nil
        } else {
            recorded[word, default: 0] += 1
        }
    }

    /// Takes a push that a replay made; whether it was found. `describe` is asked where it was not. One that is not
    /// compared is never missed.
    mutating func replayed(
        _ push: SentRecord, at now: Timestamp, planner partition: Int32, isCompared: Bool,
        _ describe: () -> ReplayDifference?
    ) -> Bool {
        let word = (push.key ?? []).withUnsafeBytes { key in
            (push.value ?? []).withUnsafeBytes { value in hash(push.partition, key, value) }
        }
        if let count = recorded[word] {
            recorded[word] = count > 1 ? count - 1 : nil
            return true
        }
        guard isCompared, now >= from else { return false }
        var missing = lacking[word] ?? Lacking(difference: describe(), partition: partition, number: lacking.count)
        missing.count += 1
        lacking[word] = missing
        return false
    }

    var lackingCount: Int { lacking.values.reduce(0) { $0 + $1.count } }
    var hasLeftovers: Bool { !recorded.isEmpty }

    /// Tells what was made and not found, in the order of the replay; without its bytes beyond the first.
    mutating func closeLacking(_ report: inout ReplayReport) {
        let all = lacking.values.sorted { $0.number < $1.number }
        for missing in all {
            for _ in 0..<missing.count {
                report.add(
                    missing.difference ?? ReplayDifference(.push, missing.partition, at: .distantFuture, "not kept"))
            }
        }
        lacking = [:]
    }

    /// Looks at a record of `hush.pushes` again: the difference that it is, where no replay made it though it was
    /// replayed what caused it.
    mutating func leftover(
        _ record: InputRecord, spans: [Int32: Span], plannerPartitions: Int32, isReplayed: (CauseWord) -> Bool
    ) -> ReplayDifference? {
        guard Self.isPlanned(record) else { return nil }
        let word = hash(record)
        guard let count = recorded[word] else { return nil }
        recorded[word] = count > 1 ? count - 1 : nil
        let appended = Timestamp(millis: record.appendTimeMillis)
        guard let value = record.value, let root = try? document.parse(value), let owner = root["owner"],
            owner.isString
        else { return nil }
        let partition = Murmur2.partition(of: owner.text, count: plannerPartitions)
        guard let span = spans[partition], appended > span.after, appended <= span.through else { return nil }
        if let cause = root["cause"]?.causeWord {
            guard isReplayed(cause) else { return nil }
        } else if appended <= span.causelessAfter {
            return nil
        }
        return ReplayDifference(
            .lackingPush, partition, at: appended,
            "\(Topic.pushes.name)-\(record.partition)@\(record.offset)",
            recorded: [Self.text(record.key.map { [UInt8]($0) }, [UInt8](value))])
    }

    static func text(_ key: [UInt8]?, _ value: [UInt8]?) -> String {
        "\(String(decoding: key ?? [], as: UTF8.self)) \(String(decoding: value ?? [], as: UTF8.self))"
    }
}
