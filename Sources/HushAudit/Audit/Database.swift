private import CSQLite

/// The owner of an SQLite database that is being written, and of its statements. Of one thread.
///
/// It is written without a journal, for a file that was not finished is thrown away.
final class Database {
    private var handle: OpaquePointer?

    /// - Throws: `AuditFault.database` with SQLite's words.
    init(path: String, pagesMax: Int? = nil) throws(AuditFault) {
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK else {
            let words = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
            close()
            throw .database("\(path) cannot be opened: \(words)")
        }
        try run(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16000;")
        if let pagesMax { try run("PRAGMA max_page_count=\(pagesMax);") }
    }

    deinit {
        close()
    }

    func close() {
        sqlite3_close_v2(handle)
        handle = nil
    }

    func run(_ sql: String) throws(AuditFault) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw fault() }
    }

    /// The rows of a query as text, columns by tabs; for tests and small answers.
    func rows(_ sql: String) throws(AuditFault) -> [[String]] {
        let statement = try Statement(self, sql)
        var rows: [[String]] = []
        while try statement.step() { rows.append(statement.texts) }
        return rows
    }

    fileprivate func fault() -> AuditFault {
        .database("SQLite: \(handle.map { String(cString: sqlite3_errmsg($0)) } ?? "closed")")
    }

    /// The owner of a prepared statement, which keeps its database open.
    final class Statement {
        private let database: Database
        private var handle: OpaquePointer?
        private var place: Int32 = 0

        init(_ database: Database, _ sql: String) throws(AuditFault) {
            self.database = database
            guard sqlite3_prepare_v2(database.handle, sql, -1, &handle, nil) == SQLITE_OK else {
                throw database.fault()
            }
        }

        deinit {
            end()
        }

        /// It is of no use from here on, and holds no lock any more.
        func end() {
            sqlite3_finalize(handle)
            handle = nil
        }

        /// Binds the next value. Text is copied by SQLite.
        func bind(_ text: Slice?) {
            place += 1
            guard let text, text.baseAddress != nil || text.count == 0 else { return bindNull() }
            let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
            // -1 as a destructor is SQLITE_TRANSIENT, which Swift does not import.
            let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            if let start {
                sqlite3_bind_text(handle, place, start, Int32(clamping: text.count), copied)
            } else {
                sqlite3_bind_text(handle, place, "", 0, copied)
            }
        }

        func bind(_ text: String) {
            var text = text
            text.withUTF8 { bind(Slice($0)) }
        }

        func bind(_ number: Int64?) {
            place += 1
            if let number { sqlite3_bind_int64(handle, place, number) } else { bindNull() }
        }

        private func bindNull() {
            sqlite3_bind_null(handle, place)
        }

        /// Runs it with what was bound, and makes it ready for the next row.
        func insert() throws(AuditFault) {
            defer {
                sqlite3_reset(handle)
                sqlite3_clear_bindings(handle)
                place = 0
            }
            guard sqlite3_step(handle) == SQLITE_DONE else { throw database.fault() }
        }

        /// False where there is no further row.
        func step() throws(AuditFault) -> Bool {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default: throw database.fault()
            }
        }

        var texts: [String] {
            (0..<sqlite3_column_count(handle)).map { column in
                sqlite3_column_text(handle, column).map { String(cString: $0) } ?? ""
            }
        }
    }
}
