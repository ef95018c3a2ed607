private import Foundation
import Glibc
import HushBase
import HushCore
import HushStream

/// What a snapshot holds, told in its `snapshot.json`: written last, so that what has one is whole.
public struct StateManifest {
    public static let fileName = "snapshot.json"
    public static let format = 1

    private var json: [UInt8] = []

    /// Reads every partition of a snapshot once, as a replay does, unless `isStopped` says that nobody waits for it.
    init(
        _ directory: String, _ partitions: [Int32], _ stream: StreamConfiguration, _ policy: Policy, _ build: Bytes,
        at now: Timestamp, cacheBytes: Int, isStopped: () -> Bool
    ) throws {
        // Metrics of its own: those of the process tell of its own tasks.
        let configuration = PlannerConfiguration(
            policy: policy, build: build, cacheBytesMax: cacheBytes, metrics: Metrics())
        let home = try StateHome(directory: directory, cacheBytes: cacheBytes, writeBufferBytes: cacheBytes)
        let application = PlannerApplication(configuration)
        var writer = JSONWriter(reserving: 4096)
        writer.raw("{\"format\":")
        writer.integer(Self.format)
        writer.raw(",\"taken\":\"")
        writer.raw(Array(RFC3339.text(millis: now.millis).utf8))
        writer.raw("\",\"build\":")
        writer.string(build)
        writer.raw(",\"config\":")
        writer.string(configuration.digest)
        writer.raw(",\"partitions\":")
        writer.integer(stream.partitionCount)
        writer.raw(",\"tasks\":[")
        for (index, partition) in partitions.enumerated() {
            guard !isStopped() else { throw StreamFault.state("the process ends") }
            let memory = try InMemoryTask(stream, partition: partition, home: home)
            let task = application.makeTask(partition: partition)
            let outcome = Result { try task.restored(memory.context) }
            let ledger = task.committedLedger
            if case .success = outcome { task.closed() }
            try memory.close()
            try outcome.get()
            writer.raw(index == 0 ? "{\"partition\":" : ",{\"partition\":")
            writer.integer(partition)
            writer.raw(",\"next_line\":")
            writer.integer(ledger.next)
            writer.raw(",\"digest\":")
            writer.string(Bytes(Hex.encode(ledger.previous)))
            writer.raw(",\"changelog_offsets\":[")
            for (number, offset) in memory.changelogOffsets.enumerated() {
                if number > 0 { writer.raw(",") }
                writer.integer(offset)
            }
            writer.raw("]}")
        }
        writer.raw("]}\n")
        json = writer.bytes
    }

    /// Puts the file in a directory, and on the disk.
    func write(_ directory: String) throws {
        let path = "\(directory)/\(Self.fileName)"
        try Data(json).write(to: URL(fileURLWithPath: path))
        try Self.sync(path)
    }

    /// Waits until a file, or a directory's names, are on the disk.
    static func sync(_ path: String) throws(SystemFault) {
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw .last("open") }
        let file = Descriptor(owning: opened)
        guard fsync(file.raw) == 0 else { throw .last("fsync") }
    }

    /// What keeps a replay from beginning with a directory that has a manifest; nil where nothing does, or it has none.
    public static func problem(of directory: String, partitions: [Int32]) -> String? {
        struct File: Decodable {
            struct Task: Decodable { var partition: Int32 }
            var format: Int
            var tasks: [Task]?
        }
        let path = "\(directory)/\(fileName)"
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        guard let file = try? JSONDecoder().decode(File.self, from: data) else { return "\(path) is damaged" }
        guard file.format == format else {
            return "\(path) is of format \(file.format), and this build reads format \(format)"
        }
        let lacking = (file.tasks ?? []).map(\.partition).filter { !partitions.contains($0) }.sorted()
        if lacking.isEmpty { return nil }
        return "\(directory) lacks partition \(lacking.map(String.init).joined(separator: ", ")) of its snapshot"
    }
}
