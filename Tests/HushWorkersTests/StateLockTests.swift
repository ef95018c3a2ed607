import Foundation
import HushBase
import Testing

@testable import HushWorkers

struct StateLockTests {
    @Test("a state directory is one process' own for as long as that lives, and then anybody's")
    func oneOwner() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hush-lock-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(
            try refusal(while: StateLock(directory: directory), directory) == [
                "state.dir: \(directory) is in use by another process: give each process a state.dir of its own"
            ])
        #expect(refusal(directory) == [])
    }

    @Test("a directory that is not there is named")
    func missing() {
        #expect(
            refusal("/nowhere/hush")
                == ["state.dir: /nowhere/hush/process.lock cannot be opened: No such file or directory"])
    }

    private func refusal(while held: consuming StateLock, _ directory: String) -> [String] {
        let problems = refusal(directory)
        _ = consume held
        return problems
    }

    private func refusal(_ directory: String) -> [String] {
        do throws(SettingsFault) {
            _ = try StateLock(directory: directory)
            return []
        } catch {
            return error.problems
        }
    }
}
