private import Foundation
import Glibc
public import HushBase
public import HushCore
public import HushStream
import Synchronization

/// Makes snapshots of the planner's partitions of a process while it works: directories below its state directory, whole
/// or not there.
///
/// Asked for over the admin port, which has no authentication: so a snapshot takes no parameter, lies in one place, is
/// made one at a time, and only while few are there and the disk has room.
public final class SnapshotKeeper: Sendable {
    /// What became of the last snapshot.
    public struct Report: Hashable, Sendable {
        public enum State: String, Hashable, Sendable { case running, done, failed }

        public var state: State
        /// Where it lies once it is done, on the worker's machine.
        public var path: String
        public var partitions: [Int32]
        /// Why it failed.
        public var reason = ""
        public var duration = Duration.zero
    }

    /// Why a snapshot is not begun.
    public enum Refusal: Error, Hashable, Sendable {
        /// Another is being made.
        case busy(String)
        /// Partitions are being restored, or there are none.
        case waiting(String)
        /// Too many snapshots are there, or the disk is full.
        case full(String)
        case broken(String)
    }

    /// How many snapshots there may be: each holds files that the worker itself has let go by then.
    public static let countMax = 16
    /// Left on the disk beside what the worker may have to flush.
    static let spareBytes = 64 << 20
    static let folder = "snapshots"
    /// Behind the name of one that is not whole.
    static let partSuffix = ".part"
    /// What one partition's copy may take of memory while it is read once.
    private static let readCacheBytes = 4 << 20

    private let home: StateHome
    private let stream: StreamConfiguration
    private let policy: Policy
    private let build: Bytes
    private let log: Log
    private let made: Counter
    private let failed: Counter
    private let lastDuration: Gauge
    private let isStopping = Atomic<Bool>(false)

    private struct Standing {
        var last: Report?
        var thread: NamedThread?
    }

    private let standing = Mutex(Standing())

    /// Removes what an earlier process left unfinished: the state directory must be this process' own by now.
    public init(
        home: StateHome, stream: StreamConfiguration, policy: Policy, build: Bytes, metrics: Metrics, log: Log
    ) {
        self.home = home
        self.stream = stream
        self.policy = policy
        self.build = build
        self.log = log
        let counter = { (result: String) in
            metrics.counter(
                "hush_snapshots_total", "Snapshots of the planner's state, by how they ended.", [("result", result)])
        }
        made = counter("done")
        failed = counter("failed")
        lastDuration = metrics.gauge("hush_last_snapshot_duration_seconds", "How long the last snapshot took.")
        for name in names() where name.hasSuffix(Self.partSuffix) {
            remove("\(directory)/\(name)")
        }
    }

    /// Where the snapshots lie.
    public var directory: String { "\(home.directory)/\(Self.folder)" }

    /// The last snapshot of this process; nil where none was asked for.
    public var last: Report? { standing.withLock { $0.last } }

    /// Begins a snapshot of all partitions that are worked on, on a thread of its own.
    public func begin(at now: Timestamp) throws(Refusal) -> Report {
        let found = home.standing(below: stream.application)
        guard found.unsettled.isEmpty else {
            throw .waiting(
                "\(found.unsettled.joined(separator: ", ")) not whole yet: partitions are moving or restored")
        }
        guard !found.settled.isEmpty else { throw .waiting("no partition of the planner is worked on here") }
        let there = names().filter { !$0.hasSuffix(Self.partSuffix) }
        guard there.count < Self.countMax else {
            throw .full("\(there.count) snapshots are in \(directory): remove some")
        }
        let room = freeBytes()
        let needed = home.writeBufferBytes + Self.spareBytes
        guard room >= needed else {
            throw .full("\(room >> 20) MB are free where \(directory) lies, and \(needed >> 20) MB must be")
        }
        // As 2026-12-01T024530.123Z: a colon in a path is trouble for some tools.
        let path = "\(directory)/\(RFC3339.text(millis: now.millis).filter { $0 != ":" })"
        let report = Report(
            state: .running, path: path,
            partitions: found.settled.compactMap { $0.split(separator: "/").last.flatMap { Int32($0) } }.sorted())
        let refusal: Refusal? = standing.withLock { standing in
            if let last = standing.last, last.state == .running { return .busy("\(last.path) is being made") }
            standing.thread?.join()
            do {
                standing.thread = try NamedThread.start(name: "hush-snapshot") { [self] in run(report, now) }
            } catch {
                return .broken("\(error)")
            }
            standing.last = report
            return nil
        }
        if let refusal { throw refusal }
        return report
    }

    /// Lets a snapshot that is being made end after its next partition.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
    }

    /// Ends a snapshot that is being made after its next partition, and waits for that.
    public func close() {
        stop()
        let thread = standing.withLock { $0.thread }
        thread?.join()
    }

    private func run(_ report: Report, _ now: Timestamp) {
        let started = MonotonicTime.now()
        let part = report.path + Self.partSuffix
        var report = report
        do {
            try make(part, report.partitions, now)
            try Self.move(part, to: report.path)
            report.state = .done
        } catch {
            remove(part)
            report.state = .failed
            report.reason = "\(error)"
        }
        report.duration = MonotonicTime.now() - started
        lastDuration.set(report.duration)
        let count = report.partitions.count
        if report.state == .done {
            made.add(1)
            log.info(
                "a snapshot of the planner's state is there",
                ["path": .text(report.path), "partitions": .init(count), "seconds": .init(report.duration)])
        } else {
            failed.add(1)
            log.warn("a snapshot failed", ["path": .text(report.path), "reason": .text(report.reason)])
        }
        let result = report
        standing.withLock { $0.last = result }
    }

    private func make(_ part: String, _ partitions: [Int32], _ now: Timestamp) throws {
        let folder = "\(part)/\(stream.application)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let isStopped = { [self] in isStopping.load(ordering: .acquiring) }
        for partition in partitions {
            guard !isStopped() else { throw StreamFault.state("the process ends") }
            let name = stream.storeName(partition)
            try home.copy(name, to: "\(part)/\(name)")
        }
        try StateManifest(
            part, partitions, stream, policy, build, at: now, cacheBytes: Self.readCacheBytes, isStopped: isStopped
        ).write(part)
    }

    /// Gives a whole snapshot its name, so that it is there after a crash of the machine or is not.
    private static func move(_ part: String, to path: String) throws {
        try StateManifest.sync(part)
        guard rename(part, path) == 0 else { throw SystemFault.last("rename") }
        try StateManifest.sync(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }

    private func names() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    private func remove(_ path: String) {
        do {
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        } catch {
            log.warn("an unfinished snapshot cannot be removed", ["path": .text(path), "reason": .text("\(error)")])
        }
    }

    private func freeBytes() -> Int {
        var found = statvfs()
        guard statvfs(home.directory, &found) == 0 else { return 0 }
        return Int(found.f_bavail) * Int(found.f_frsize)
    }
}
