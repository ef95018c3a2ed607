import CLinux
import Foundation
import HushAudit
import HushBase
import HushCore
import HushStream
import HushWorkers

/// Lines of the ledger that an audit takes in a second of one core: numbers, digests, joins and sums, without Kafka.
///
/// The lines are made as workers write them, some thousands at a time, and only the audit's own CPU time counts. Each
/// intent goes to two devices: a plan line of two ops, and a deliver line for each; an order line every 200.
enum AuditBenchmark {
    static let linesPerRound = 30_000
    static let partitions: Int32 = 12
    static let linesPerPart = 200

    static func run(_ arguments: Arguments) throws -> Int32 {
        let lines = try arguments.number("lines", or: 10_000_000)
        let intents = lines / 3
        let perPartition = intents / Int(partitions) + 1
        let spans = (0..<partitions).map { AuditBooks.Span(.intents, $0, start: 0, end: Int64(perPartition)) }
        var random = SplitMix64(seed: 1)
        let books = try AuditBooks(
            spans: spans, AuditBooks.Surroundings(ledgerPartitions: partitions), random: &random)
        var writer = Writer(perPartition: perPartition)
        var (inputTime, lineTime) = (0.0, 0.0)
        for partition in 0..<partitions { inputTime += writer.showInputs(partition, to: books) }
        while let round = writer.round() {
            let before = threadCPUSeconds()
            round.forEach { books.takeLine($0) }
            lineTime += threadCPUSeconds() - before
        }
        let before = threadCPUSeconds()
        let report = books.close()
        let closing = threadCPUSeconds() - before
        guard report.verdict == .proved else {
            print(report.text)
            return 1
        }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let rate = Double(report.counts.lines) / (lineTime + closing)
        print(
            "audit: \(report.counts.lines) ledger lines, \(Int(rate)) a second of one core (aim: 300000), close "
                + String(format: "%.2f s; ", closing)
                + "\(Int(Double(report.counts.inputs) / inputTime)) inputs a second; peak memory of the process "
                + "\(usage.ru_maxrss >> 10) MB, \(report.total.pending) ops open at the end")
        return 0
    }

    private static func threadCPUSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Records of some partition, one behind the other in one buffer.
    private struct Round {
        var bytes: [UInt8] = []
        var places: [(partition: Int32, offset: Int64, start: Int, count: Int)] = []

        func forEach(_ body: (InputRecord) -> Void) {
            bytes.withUnsafeBytes { bytes in
                for place in places {
                    let value = UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count])
                    body(
                        InputRecord(
                            input: 0, partition: place.partition, offset: place.offset,
                            appendTimeMillis: AuditBenchmark.start + place.offset, key: nil, value: value,
                            headers: InputHeaders()))
                }
            }
        }

        mutating func append(_ partition: Int32, _ offset: Int64, _ line: UnsafeRawBufferPointer) {
            places.append((partition, offset, bytes.count, line.count))
            bytes.append(contentsOf: line)
        }
    }

    static let start: Int64 = 1_764_583_200_000

    /// Writes the ledger as the workers would, in turns of the partitions.
    private struct Writer {
        private let perPartition: Int
        private var next = 0
        private var offsets = [Int64](repeating: 0, count: Int(AuditBenchmark.partitions))
        private let plan: [LedgerBook]
        private let deliver: [LedgerBook]

        init(perPartition: Int) {
            self.perPartition = perPartition
            func book(_ stage: Stage, _ partition: Int32) -> LedgerBook {
                LedgerBook(
                    task: Bytes("\(stage.rawValue)-\(partition)"), stage: stage, config: "0123456789abcdef",
                    build: "bench")
            }
            plan = (0..<AuditBenchmark.partitions).map { book(.plan, $0) }
            deliver = (0..<AuditBenchmark.partitions).map { book(.deliver, $0) }
        }

        private func id(_ partition: Int32, _ number: Int) -> Bytes { Bytes("order-\(partition)-\(number)") }

        /// - Returns: the CPU time of taking them in.
        func showInputs(_ partition: Int32, to books: AuditBooks) -> Double {
            var spent = 0.0
            for first in stride(from: 0, to: perPartition, by: AuditBenchmark.linesPerRound) {
                var round = Round()
                for number in first..<min(first + AuditBenchmark.linesPerRound, perPartition) {
                    let text =
                        #"{"id":"\#(id(partition, number))","recipient":"user-\#(number % 5000)","#
                        + #""title":"Your parcel is here","body":"Locker 7"}"#
                    Array(text.utf8).withUnsafeBytes { round.append(partition, Int64(number), $0) }
                }
                let before = AuditBenchmark.threadCPUSeconds()
                round.forEach { books.takeInput(.intents, $0) }
                spent += AuditBenchmark.threadCPUSeconds() - before
            }
            return spent
        }

        /// The next lines; nil at the end.
        mutating func round() -> Round? {
            guard next < perPartition else { return nil }
            var round = Round()
            let count = AuditBenchmark.linesPerRound / 3 / Int(AuditBenchmark.partitions)
            let numbers = next..<min(next + count, perPartition)
            for partition in 0..<AuditBenchmark.partitions {
                for number in numbers { write(partition, number, &round) }
                end(plan[Int(partition)], partition, &round)
                end(deliver[Int(partition)], partition, &round)
            }
            next = numbers.upperBound
            return round
        }

        private mutating func write(_ partition: Int32, _ number: Int, _ round: inout Round) {
            let now = Timestamp(millis: AuditBenchmark.start + Int64(number))
            let cause = Position(topic: .intents, partition: partition, offset: Int64(number))
            let recipient = Bytes("user-\(number % 5000)")
            let devices: [Bytes] = ["phone-0123456789", "pad-0123456789"]
            plan[Int(partition)].took(.intents, offset: Int64(number))
            let line = PlanLine(
                decision: .planned, recipient: recipient, id: id(partition, number), revision: 1,
                ops: devices.map { PlanLine.PlannedOp(device: $0, kind: .create) }, cause: cause)
            plan[Int(partition)].write(line, at: now) { append(partition, $0, &round) }
            for (index, device) in devices.enumerated() {
                let op = OpID(partition: partition, offset: Int64(number * 2 + index), index: 0)
                deliver[Int(partition)].took(.pushes, offset: op.offset)
                var line = DeliveryLine(
                    .accepted, recipient: recipient, device: device,
                    ops: [.init(op: op, kind: .create, id: id(partition, number), cause: cause)])
                line.attempt = 1
                line.status = 200
                line.apnsID = Array("6f1c1a52-8a0e-4b8e-9d35-0123456789ab".utf8)
                deliver[Int(partition)].write(line, at: now) { append(partition, $0, &round) }
            }
            if number % AuditBenchmark.linesPerPart == 0 {
                end(plan[Int(partition)], partition, &round)
                end(deliver[Int(partition)], partition, &round)
            }
        }

        private mutating func end(_ book: LedgerBook, _ partition: Int32, _ round: inout Round) {
            if book.isOpen {
                book.writeOrder(at: Timestamp(millis: AuditBenchmark.start)) { append(partition, $0, &round) }
            }
        }

        private mutating func append(_ partition: Int32, _ line: UnsafeRawBufferPointer, _ round: inout Round) {
            round.append(partition, offsets[Int(partition)], line)
            offsets[Int(partition)] += 1
        }
    }
}
