import Foundation
import HushWorkers

/// A copy of the planner's state as a worker left it, or as one copied it at work, which a replay can begin with.
///
/// Its layout is that of a state directory: `planner/`, and below it a database for each partition.
public enum StateSnapshot {
    static let folder = "planner"

    /// Copies the planner's partitions from a state directory, which no process may have.
    /// - Returns: the partitions that were copied.
    /// - Throws: `SettingsFault` where a process has the directory; `ReplayFault` where there is nothing to copy, or
    /// one of the partitions is there already.
    @discardableResult
    public static func take(_ from: String, to: String) throws -> [Int32] {
        let files = FileManager.default
        let source = "\(from)/\(folder)"
        guard let names = try? files.contentsOfDirectory(atPath: source) else {
            throw ReplayFault.directory("\(from) is no state directory of a planner: there is no \(source)")
        }
        let partitions = names.compactMap { Int32($0) }.sorted()
        guard !partitions.isEmpty else { throw ReplayFault.directory("\(source) has no partition") }
        if let problem = StateManifest.problem(of: from, partitions: partitions) {
            throw ReplayFault.directory(problem)
        }
        return try StateDirectory.whileLocked(from) {
            let target = "\(to)/\(folder)"
            do {
                try files.createDirectory(atPath: target, withIntermediateDirectories: true)
                for partition in partitions {
                    guard !files.fileExists(atPath: "\(target)/\(partition)") else {
                        throw ReplayFault.directory("\(target) has partition \(partition) already")
                    }
                    try files.copyItem(atPath: "\(source)/\(partition)", toPath: "\(target)/\(partition)")
                }
            } catch let fault as ReplayFault {
                throw fault
            } catch {
                throw ReplayFault.directory("\(from) cannot be copied to \(to): \(error.localizedDescription)")
            }
            return partitions
        }
    }
}
