import Glibc
import HushCore
import HushStream
import HushWorkers

/// Writes what an audit read into a new SQLite file: docs/operating/audit.md has the tables, and queries to begin with.
///
/// The file gets its name once it is whole. Where it cannot be written (a full disk), `fault` says why, what was
/// written is removed, and the audit itself goes on.
public final class AuditDatabase {
    /// Why the file could not be written.
    public private(set) var fault: AuditFault?
    private let path: String
    private var database: Database?
    private let inputs: Database.Statement
    private let plan: Database.Statement
    private let ops: Database.Statement
    private let deliver: Database.Statement
    private let orders: Database.Statement

    private var partial: String { path + ".partial" }

    /// - Throws: `AuditFault.database` where the file is there already, or cannot be made.
    public convenience init(path: String) throws(AuditFault) {
        try self.init(path: path, pagesMax: nil)
    }

    init(path: String, pagesMax: Int?) throws(AuditFault) {
        self.path = path
        guard access(path, F_OK) != 0 else { throw .database("\(path) exists: audits write new files") }
        unlink(path + ".partial")
        let database = try Database(path: path + ".partial", pagesMax: pagesMax)
        try database.run("BEGIN;" + Self.tables)
        inputs = try Database.Statement(database, "INSERT INTO inputs VALUES (?,?,?,?,?,?,?)")
        plan = try Database.Statement(database, "INSERT OR IGNORE INTO plan VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")
        ops = try Database.Statement(database, "INSERT OR IGNORE INTO ops VALUES (?,?,?,?,?,?)")
        deliver = try Database.Statement(
            database, "INSERT OR IGNORE INTO deliver VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
        orders = try Database.Statement(database, "INSERT OR IGNORE INTO orders VALUES (?,?,?,?,?,?,?,?,?)")
        self.database = database
    }

    /// The tables as they are made; the documentation has the same text, and a test compares.
    public static let tables = """
        CREATE TABLE inputs (topic TEXT, partition INTEGER, offset INTEGER, at INTEGER, key TEXT, bytes INTEGER,
          lines INTEGER, PRIMARY KEY (topic, partition, offset)) WITHOUT ROWID;
        CREATE TABLE plan (partition INTEGER, offset INTEGER, task TEXT, n INTEGER, at TEXT, decision TEXT, id TEXT,
          recipient TEXT, revision INTEGER, topic TEXT, cause_partition INTEGER, cause_offset INTEGER,
          PRIMARY KEY (partition, offset)) WITHOUT ROWID;
        CREATE TABLE ops (partition INTEGER, offset INTEGER, number INTEGER, device TEXT, kind TEXT, id TEXT,
          PRIMARY KEY (partition, offset, number)) WITHOUT ROWID;
        CREATE TABLE deliver (partition INTEGER, offset INTEGER, op TEXT, task TEXT, n INTEGER, at TEXT, outcome TEXT,
          final INTEGER, recipient TEXT, device TEXT, kind TEXT, id TEXT, attempt INTEGER, apns_id TEXT, status INTEGER,
          reason TEXT, gate TEXT, until TEXT, topic TEXT, cause_partition INTEGER, cause_offset INTEGER,
          PRIMARY KEY (partition, offset, op)) WITHOUT ROWID;
        CREATE TABLE orders (partition INTEGER, offset INTEGER, task TEXT, n INTEGER, at TEXT, config TEXT, build TEXT,
          previous TEXT, digest TEXT, PRIMARY KEY (partition, offset)) WITHOUT ROWID;
        CREATE TABLE violations (code TEXT, topic TEXT, partition INTEGER, offset INTEGER, detail TEXT);
        CREATE TABLE doubts (code TEXT, detail TEXT);
        CREATE TABLE hours (hour TEXT, name TEXT, count INTEGER);
        CREATE TABLE audit (verdict TEXT, inputs INTEGER, lines INTEGER, pushes INTEGER);

        """

    private static let indices = """
        CREATE INDEX plan_by_id ON plan (recipient, id);
        CREATE INDEX plan_by_cause ON plan (topic, cause_partition, cause_offset);
        CREATE INDEX deliver_by_id ON deliver (recipient, id);
        CREATE INDEX deliver_by_cause ON deliver (topic, cause_partition, cause_offset);
        COMMIT;
        """

    private func guarded(_ body: () throws(AuditFault) -> Void) {
        guard fault == nil else { return }
        do throws(AuditFault) {
            try body()
        } catch {
            fault = error
            discard()
        }
    }

    private func close() {
        for statement in [inputs, plan, ops, deliver, orders] { statement.end() }
        database?.close()
        database = nil
    }

    private func discard() {
        close()
        unlink(partial)
    }

    func input(_ topic: InputTopic, _ record: InputRecord, lines: Int) {
        guarded { () throws(AuditFault) in
            inputs.bind(topic.topic.name)
            inputs.bind(Int64(record.partition))
            inputs.bind(record.offset)
            inputs.bind(record.appendTimeMillis)
            inputs.bind(record.key)
            inputs.bind(Int64(record.value?.count ?? 0))
            inputs.bind(Int64(lines))
            try inputs.insert()
        }
    }

    func line(_ line: LedgerLine, partition: Int32, offset: Int64) {
        guarded { () throws(AuditFault) in
            switch line.kind {
            case .plan(let decision): try insert(line, decision, partition, offset)
            case .deliver(let outcome): try insert(line, outcome, partition, offset)
            case .order: try insertOrder(line, partition, offset)
            case .redrive, .unknown: break
            }
        }
    }

    private func begin(_ statement: Database.Statement, _ partition: Int32, _ offset: Int64) {
        statement.bind(Int64(partition))
        statement.bind(offset)
    }

    private func insert(
        _ line: LedgerLine, _ decision: PlanDecision, _ partition: Int32, _ offset: Int64
    ) throws(AuditFault) {
        begin(plan, partition, offset)
        plan.bind(line.task)
        plan.bind(line.number)
        plan.bind(line.at)
        plan.bind(decision.name.text)
        plan.bind(line.id?.text)
        plan.bind(line.recipient?.text)
        plan.bind(line.root["revision"]?.whole)
        bind(line.cause?.causeWord, to: plan)
        try plan.insert()
        guard let list = line.ops else { return }
        for (number, op) in list.children.enumerated() {
            var parts = op.children
            begin(ops, partition, offset)
            ops.bind(Int64(number))
            ops.bind(parts.next()?.text)
            let kind = parts.next()?.text
            ops.bind(kind)
            let isBind = kind?.elementsEqual("bind".utf8) ?? false
            ops.bind(isBind ? nil : (parts.next() ?? line.id)?.text)
            try ops.insert()
        }
    }

    private func insert(
        _ line: LedgerLine, _ outcome: DeliveryOutcome, _ partition: Int32, _ offset: Int64
    ) throws(AuditFault) {
        guard let list = line.ops else { return }
        for op in list.children {
            begin(deliver, partition, offset)
            deliver.bind(op["op"]?.text)
            deliver.bind(line.task)
            deliver.bind(line.number)
            deliver.bind(line.at)
            deliver.bind(outcome.name.text)
            deliver.bind(line.isFinal.map { $0 ? 1 : 0 } as Int64?)
            deliver.bind(op["recipient"]?.text)
            deliver.bind(line.device?.text)
            deliver.bind(op["kind"]?.text)
            deliver.bind(op["id"]?.text)
            deliver.bind(line.root["attempt"]?.whole)
            deliver.bind(line.root["apns_id"]?.text)
            deliver.bind(line.root["status"]?.whole)
            for name in ["reason", "gate", "until"] as [StaticString] { deliver.bind(line.root[name]?.text) }
            bind(op["cause"]?.causeWord, to: deliver)
            try deliver.insert()
        }
    }

    private func insertOrder(_ line: LedgerLine, _ partition: Int32, _ offset: Int64) throws(AuditFault) {
        begin(orders, partition, offset)
        orders.bind(line.task)
        orders.bind(line.number)
        orders.bind(line.at)
        for value in [line.config, line.build, line.previous, line.digest] { orders.bind(value?.text) }
        try orders.insert()
    }

    private func bind(_ cause: CauseWord?, to statement: Database.Statement) {
        guard let cause else {
            statement.bind(nil as Slice?)
            statement.bind(nil as Int64?)
            return statement.bind(nil as Int64?)
        }
        statement.bind(cause.topic.topic.name)
        statement.bind(Int64(cause.partition))
        statement.bind(cause.offset)
    }

    /// Writes what the audit found, and gives the file its name.
    public func finish(_ report: AuditReport) {
        guarded { () throws(AuditFault) in
            guard let database else { return }
            try write(report, database)
            try database.run(Self.indices)
            close()
            guard rename(partial, path) == 0 else {
                throw .database("\(partial) cannot be renamed: \(String(cString: strerror(errno)))")
            }
        }
    }

    private func write(_ report: AuditReport, _ database: Database) throws(AuditFault) {
        let audit = try Database.Statement(database, "INSERT INTO audit VALUES (?,?,?,?)")
        audit.bind(report.verdict.rawValue)
        for count in [report.counts.inputs, report.counts.lines, report.counts.pushes] { audit.bind(Int64(count)) }
        try audit.insert()
        let violations = try Database.Statement(database, "INSERT INTO violations VALUES (?,?,?,?,?)")
        for violation in report.violations {
            violations.bind(violation.code.rawValue)
            violations.bind(violation.topic)
            violations.bind(Int64(violation.partition))
            violations.bind(violation.offset)
            violations.bind(violation.detail)
            try violations.insert()
        }
        let doubts = try Database.Statement(database, "INSERT INTO doubts VALUES (?,?)")
        for doubt in report.doubts {
            doubts.bind(doubt.code.rawValue)
            doubts.bind(doubt.detail)
            try doubts.insert()
        }
        let hours = try Database.Statement(database, "INSERT INTO hours VALUES (?,?,?)")
        for hour in report.hours {
            for (name, count) in hour.named where count > 0 {
                hours.bind(AuditReport.hourText(hour.hour))
                hours.bind(name)
                hours.bind(Int64(count))
                try hours.insert()
            }
        }
    }
}

extension HourCounts {
    /// Every count with its name.
    var named: [(String, Int)] {
        InputTopic.allCases.map { ($0.topic.name, inputs[Int($0.rawValue)]) }
            + [("wanted", wanted), ("waiting", waiting), ("ops", ops), ("pending", pending)]
            + PlanDecision.allCases.map { ("decision \($0.name)", decisions[Int($0.rawValue)]) }
            + DeliveryOutcome.allCases.map { ("outcome \($0.name)", outcomes[Int($0.rawValue)]) }
    }
}
