import Foundation
import HushCore
import HushStream
import HushWorkers
import Testing

@testable import HushAudit

/// What `--sqlite` writes, and the documentation's queries on it.
@Suite struct AuditDatabaseTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "hush-audit-\(UUID()).sqlite").path

    private func page() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/operating/audit.md"), encoding: .utf8)
    }

    /// The documentation's blocks of one language.
    private func blocks(_ language: String) throws -> [String] {
        try page().components(separatedBy: "```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
    }

    @Test("the tables are those of the documentation, and its ten queries run on them and find what is there")
    func queries() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let rig = try AuditRig()
        try rig.playDay()
        let writer = try AuditDatabase(path: file)
        let report = try rig.audit(rows: writer)
        writer.finish(report)
        #expect(writer.fault == nil)
        let sql = try blocks("sql")
        #expect(sql.first == AuditDatabase.tables.trimmingCharacters(in: .newlines) + "\n")
        let queries = sql.dropFirst().flatMap { $0.components(separatedBy: ";\n") }.filter { $0.contains("SELECT") }
        #expect(queries.count == 10)
        let database = try Database(path: file)
        let found = try queries.map { try database.rows($0) }
        let decisions = [
            ("dead", 1), ("duplicate", 1), ("hello", 1), ("planned", 2), ("read", 2), ("registered", 2),
            ("retracted", 1), ("updated", 1),
        ]
        #expect(found[2] == decisions.map { ["2025-12-01T10", $0, "\($1)"] })
        #expect(found[3] == [["2025-12-01T10", "accepted", "13"]])
        #expect(found[6] == [["ada", "3"]])
        #expect(try database.rows("SELECT verdict, inputs FROM audit") == [["proved", "11"]])
        #expect(try database.rows("SELECT count(*) FROM plan") == [["\(report.counts.planLines)"]])
        #expect(try database.rows("SELECT count(*) FROM ops") == [["\(report.total.ops)"]])
        #expect(try database.rows("SELECT count(*) FROM deliver WHERE final") == [["\(report.total.ops)"]])
        #expect(try database.rows("SELECT count(*) FROM orders") == [["\(report.counts.orderLines)"]])
        #expect(
            try database.rows(
                "SELECT device, count(*) FROM deliver WHERE recipient = 'ada' AND id = 'one' GROUP BY device "
                    + "ORDER BY device") == [["pad", "3"], ["phone", "3"]])
    }

    @Test("every violation and every doubt is documented, and no other")
    func documentsCodes() throws {
        let rows = try page().split(separator: "\n").filter {
            $0.hasPrefix("| `") && $0.contains("_") || $0.hasPrefix("| `stopped`")
        }
        .map(String.init)
        let codes =
            ViolationCode.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }
            + DoubtCode.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }
        #expect(rows == codes)
    }

    @Test("a full disk is told, leaves no file, and does not stop the audit")
    func fullDisk() throws {
        let rig = try AuditRig()
        try rig.playDay()
        let writer = try AuditDatabase(path: file, pagesMax: 12)
        for _ in 0..<200 { try rig.publish(.intents, #"{"id":"one","recipient":"ada","title":"c"}"#) }
        try rig.commit()
        let report = try rig.audit(rows: writer)
        writer.finish(report)
        #expect(report.verdict == .proved)
        #expect(writer.fault == .database("SQLite: database or disk is full"))
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(!FileManager.default.fileExists(atPath: file + ".partial"))
    }

    @Test("a file that is there is not overwritten, and a place that is none is told")
    func places() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: AuditFault.database("\(file) exists: audits write new files")) {
            try AuditDatabase(path: file)
        }
        #expect(throws: AuditFault.self) { try AuditDatabase(path: file + "/nowhere/x") }
    }
}
