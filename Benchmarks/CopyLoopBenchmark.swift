import Foundation
import HushStream

/// What plain librdkafka takes to read one record and write several in transactions: the measure for the planner.
enum CopyLoopBenchmark {
    static func run(_ arguments: Arguments) throws -> Int32 {
        let kafka = try KafkaConfiguration(bootstrapServers: try arguments.text("bootstrap"))
        let name = "copy-loop-\(UInt32.random(in: 0...UInt32.max))"
        let sizes = try arguments.text("sizes").split(separator: ",").compactMap { Int($0) }
        let result = try CopyLoop.run(
            kafka: kafka, name: name, input: try arguments.text("input"), output: try arguments.text("output"),
            partitions: Int32(try arguments.number("partitions", or: 4)), sizes: sizes,
            recordsPerTransaction: try arguments.number("transaction-records", or: 20_000))
        let micros = String(format: "%.2f", result.cpuMicrosPerInput)
        print("copy loop: \(result.inputs) records in, \(sizes) bytes out each, \(result.transactions) transactions")
        print("copy loop: \(micros) µs CPU a record in")
        return 0
    }
}
