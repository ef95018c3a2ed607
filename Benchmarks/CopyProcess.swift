import CLinux
import Foundation
import HushBase
import HushStream

/// A process that copies a topic through one slot until SIGTERM; `scripts/kill-copy` kills it, again and again.
///
/// Every 100 ms a line on stdout tells how it stands: `phase partitions in transactions aborts lag`.
enum CopyProcess {
    static func run(_ arguments: Arguments) throws -> Int32 {
        let name = try arguments.text("name")
        let partitions = Int32(try arguments.number("partitions", or: 4))
        let delayMicros = UInt32(try arguments.number("delay-us", or: 0))
        var configuration = CopyApplication.configuration(
            name: name, slot: try arguments.text("slot"), input: "\(name)-in", output: "\(name)-out",
            changelog: "\(name)-counts", partitionCount: partitions)
        configuration.isStaticMember = try arguments.number("static", or: 1) != 0
        configuration.commitInterval = .milliseconds(try arguments.number("commit-ms", or: 200))
        configuration.drainLimit = .milliseconds(500)
        configuration.transactionTimeout = .milliseconds(try arguments.number("transaction-ms", or: 3000))
        configuration.sessionTimeout = .milliseconds(try arguments.number("session-ms", or: 5000))
        let kafka = try KafkaConfiguration(bootstrapServers: try arguments.text("bootstrap"))
        let home = try StateHome(directory: try arguments.text("state"))
        let log = StreamLog { level, message in
            if level >= .info { FileHandle.standardError.write(Data("\(level) \(message)\n".utf8)) }
        }

        // Blocked before any thread starts, so that SIGTERM reaches this one alone.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        let slot = try StreamSlot(configuration, kafka: kafka, home: home, log: log) {
            CopyApplication(beforeRecord: { _ in if delayMicros > 0 { usleep(delayMicros) } })
        }
        try slot.start()
        var pause = timespec(tv_sec: 0, tv_nsec: 100_000_000)
        while slot.status.phase != .stopped {
            if sigtimedwait(&signals, nil, &pause) > 0 { slot.stop() }
            let status = slot.status
            let line =
                "\(status.phase) \(status.partitions.count) \(status.recordsIn) \(status.transactions) "
                + "\(status.aborts) \(status.lag)\n"
            FileHandle.standardOutput.write(Data(line.utf8))
        }
        if let fault = slot.join() {
            FileHandle.standardError.write(Data("\(fault)\n".utf8))
            return fault.isMendedByRestart ? 75 : 1
        }
        return 0
    }
}
