import HushCore
import HushStream

/// The planner's rows of audiences, in table `marks`, for they are forgotten with the marks that come of them.
///
/// No recipient is empty, so no mark's key begins with a zero. Behind it: `a` + id for an audience's own mark, `j` + id
/// for its unfinished job, `h` + length of the id, id, recipient for each who holds its notification.
enum AudienceRows {
    static let audienceFormat: UInt8 = 1
    static let jobFormat: UInt8 = 1
    static let holderFormat: UInt8 = 1

    static let jobPrefix: [UInt8] = [0, UInt8(ascii: "j")]

    static func audienceKey(_ id: Bytes) -> [UInt8] { [0, UInt8(ascii: "a")] + id.raw }

    static func jobKey(_ id: Bytes) -> [UInt8] { jobPrefix + id.raw }

    /// What the keys of an audience's holders begin with.
    static func holderPrefix(_ id: Bytes) -> [UInt8] {
        // An id has at most 256 bytes.
        [0, UInt8(ascii: "h"), UInt8(id.count >> 8), UInt8(id.count & 0xff)] + id.raw
    }

    static func write(_ audience: AudienceMark, lifeMillis: Int64, _ writer: inout RowWriter) {
        var mark = RowWriter()
        PlannerRows.write(audience.mark, lifeMillis: lifeMillis, &mark)
        writer.begin(
            format: audienceFormat, dropping: audience.mark.touched.adding(millis: lifeMillis).adding(millis: 1))
        writer.byte(audience.isEvaluated ? 1 : 0)
        writer.raw(mark.bytes)
    }

    static func audience(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> AudienceMark {
        var reader = try RowReader("audience", bytes, newest: audienceFormat, skipping: PlannerRows.dropTimeBytes)
        let isEvaluated = try reader.byte() == 1
        let mark = UnsafeRawBufferPointer(rebasing: bytes[(PlannerRows.dropTimeBytes + 2)...])
        return AudienceMark(mark: try PlannerRows.mark(mark), isEvaluated: isEvaluated)
    }

    static func write(_ job: AudienceJob, dropping drop: Timestamp, _ writer: inout RowWriter) {
        writer.begin(format: jobFormat, dropping: drop)
        writer.integer(job.turn)
        write(job.telling, &writer)
        write(job.evaluation, &writer)
        writer.optional(job.app)
        writer.byte(job.audience == nil ? 0 : 1)
        guard let audience = job.audience else { return }
        for tags in [audience.all, audience.any, audience.none] {
            writer.count(tags.count)
            for tag in tags { writer.text(tag) }
        }
    }

    static func job(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> AudienceJob {
        var reader = try RowReader("audience job", bytes, newest: jobFormat, skipping: PlannerRows.dropTimeBytes)
        var job = AudienceJob(turn: try reader.integer())
        job.telling = try walk(&reader)
        job.evaluation = try walk(&reader)
        job.app = try reader.optionalText()
        if try reader.byte() == 1 {
            var audience = Audience()
            for list in [\Audience.all, \.any, \.none] {
                for _ in 0..<(try reader.count()) { audience[keyPath: list].append(try reader.text()) }
            }
            job.audience = audience
        }
        try reader.end()
        return job
    }

    /// The turn of a job.
    static func turn(id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) throws(TaskFailure) -> AudienceTurn {
        let job = try job(bytes)
        return AudienceTurn(turn: job.turn, id: Bytes(copying: id), isAsking: job.evaluation != nil)
    }

    /// Nothing but when it goes.
    static func writeHolder(dropping drop: Timestamp, _ writer: inout RowWriter) {
        writer.begin(format: holderFormat, dropping: drop)
    }

    private static func write(_ walk: AudienceJob.Walk?, _ writer: inout RowWriter) {
        writer.byte(walk == nil ? 0 : 1)
        guard let walk else { return }
        writer.byte(walk.cause.topic.rawValue)
        writer.integer(Int64(walk.cause.partition))
        writer.integer(walk.cause.offset)
        writer.optional(walk.after)
    }

    private static func walk(_ reader: inout RowReader) throws(TaskFailure) -> AudienceJob.Walk? {
        guard try reader.byte() == 1 else { return nil }
        let topic = try reader.choice(InputTopic.self)
        let partition = try reader.integer()
        guard let partition = Int32(exactly: partition) else {
            throw TaskFailure("an audience job row has a partition beyond 32 bits")
        }
        let cause = Position(topic: topic, partition: partition, offset: try reader.integer())
        return AudienceJob.Walk(cause: cause, after: try reader.optionalText())
    }
}
