/// A place where a rule is broken.
struct Finding: Hashable, CustomStringConvertible {
    var line: Int
    var reason: String

    var description: String { "\(line): \(reason)" }
}

/// The rules that look at one Swift file.
enum Rules {
    static let fileLinesMax = 600
    static let functionLinesMax = 70

    /// What each module may import; the C modules stand with their one owner.
    static let imports: [String: Set<String>] = [
        "HushCore": [],
        "HushKit": ["HushCore"],
        "HushBase": ["CLinux", "Glibc", "Synchronization"],
        "HushStream": ["HushBase", "CLinux", "CRdKafka", "CRocksDB", "Glibc", "Synchronization"],
        "HushAPNs": ["HushBase", "CLinux", "CNghttp2", "COpenSSL", "Glibc", "Synchronization"],
        "HushWorkers": [
            "HushCore", "HushBase", "HushStream", "HushAPNs", "CSimdjson", "CLibevent", "CLinux", "Glibc",
            "Synchronization", "Foundation",
        ],
        "HushSimulator": [
            "HushCore", "HushBase", "HushKit", "HushAPNs", "HushStream", "HushWorkers", "CLinux", "Glibc",
            "Synchronization", "Foundation",
        ],
        "HushAudit": [
            "HushCore", "HushBase", "HushStream", "HushAPNs", "HushWorkers", "CSQLite", "CLinux", "Glibc",
            "Synchronization", "Foundation",
        ],
        "HushLoad": [
            "HushCore", "HushBase", "HushKit", "HushStream", "HushWorkers", "HushSimulator", "CLinux", "Glibc",
            "Synchronization", "Foundation",
        ],
        "hush": [
            "HushCore", "HushBase", "HushStream", "HushWorkers", "HushSimulator", "HushAudit", "HushLoad", "Glibc",
            "Synchronization", "Foundation",
        ],
    ]

    /// The modules that a file imports, each with its line.
    static func importedModules(_ text: SwiftText) throws -> [(line: Int, module: String)] {
        let attributes =
            #"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|private|fileprivate)[ \t]+)?"#
        let kinds = "(?:(?:struct|class|enum|protocol|func|var|typealias)[ \\t]+)?"
        return try text.matches(attributes + "import[ \\t]+" + kinds + "(\\w+)").map { ($0.line, $0.group) }
    }

    static func brokenImports(of module: String, _ text: SwiftText) throws -> [Finding] {
        guard let allowed = imports[module] else { return [Finding(line: 1, reason: "\(module) has no import rule")] }
        // What only Apple's systems have is behind a condition, in files that this package does not build on Linux.
        let isApple = text.code.hasPrefix("#if canImport(UserNotifications)")
        let more: Set<String> = isApple ? ["Foundation", "UserNotifications"] : []
        return try importedModules(text).filter { !allowed.union(more).contains($0.module) }.map {
            Finding(line: $0.line, reason: "\(module) must not import \($0.module)")
        }
    }

    static func tooLong(_ text: SwiftText) throws -> [Finding] {
        var found: [Finding] = []
        // A file ends with a line feed, behind which there is an empty line that nobody counts.
        let count = text.lines.last == "" ? text.lines.count - 1 : text.lines.count
        if count > fileLinesMax { found.append(Finding(line: 1, reason: "\(count) lines, at most \(fileLinesMax)")) }
        for function in try text.functions() where function.length > functionLinesMax {
            let reason = "a function of \(function.length) lines, at most \(functionLinesMax)"
            found.append(Finding(line: function.line, reason: reason))
        }
        return found
    }

    /// Calls that hide an error or stop the process.
    static func bannedCalls(_ text: SwiftText, mayPrint: Bool) throws -> [Finding] {
        var banned = [(#"\btry!"#, "try!"), (#"\bas!"#, "as!"), (#"\bfatalError\("#, "fatalError")]
        if !mayPrint { banned.append((#"(?<![.\w])(?:debugP|p)rint\("#, "print")) }
        return try banned.flatMap { pattern, name in
            try text.matches(pattern).map { Finding(line: $0.line, reason: "\(name) is not used here") }
        }
    }

    /// Time is an argument of rules: only clocks read it.
    static func readsClock(_ text: SwiftText) throws -> [Finding] {
        if text.code.hasPrefix("#if canImport(UserNotifications)") { return [] }
        return try text.matches(#"\bDate\(\)|\b(?:ContinuousClock|SuspendingClock)\b|\bclock_gettime\("#).map {
            Finding(line: $0.line, reason: "the time is an argument here")
        }
    }

    /// A pause is part of a wait with a deadline, or makes a record's work slow on purpose (`beforeRecord`); the word stands
    /// within the fifteen lines above.
    static func bareSleeps(_ text: SwiftText) throws -> [Finding] {
        try text.matches(#"\b(?:(?:u|nano)?sleep\(|(?:Thread|Task)\.sleep\b)"#).filter { match in
            !text.codeLines[max(0, match.line - 16)..<match.line].contains { line in
                ["deadline", "beforerecord"].contains { line.lowercased().contains($0) }
            }
        }.map { Finding(line: $0.line, reason: "wait for a condition with a deadline, do not sleep") }
    }

    /// Marks of unfinished work, which are in comments.
    static func unfinished(_ text: SwiftText) throws -> [Finding] {
        try Pattern.matches(#"\b(?:TODO|FIXME|XXX)\b"#, in: text.source).map {
            Finding(line: $0.line, reason: "unfinished work belongs into the tracker")
        }
    }

    /// A promise to the compiler needs a comment that says why it holds: on its line or in the lines right above.
    static func unexplainedPromises(_ text: SwiftText) throws -> [Finding] {
        let promise = try text.matches(#"@unchecked Sendable|nonisolated\(unsafe\)"#)
        let promised = Set(promise.map(\.line))
        return promised.sorted().filter { line in
            if text.lines[line - 1].contains("//") { return false }
            var above = line - 1
            while above > 0 {
                let words = text.lines[above - 1].drop { $0 == " " }
                if words.hasPrefix("//") { return false }
                guard words.hasPrefix("@") || promised.contains(above) else { return true }
                above -= 1
            }
            return true
        }.map { Finding(line: $0, reason: "say in a comment why this promise holds") }
    }

    /// C types in what a module shows to others.
    static func shownCTypes(_ text: SwiftText) throws -> [Finding] {
        let types = #"OpaquePointer|rd_kafka_\w+|nghttp2_\w+|rocksdb_\w+|evhttp_\w+|SSL|SSL_\w+|EVP_\w+|X509"#
        return try text.matches(#"^[ \t]*(?:public|package)\b.*\b(?:"# + types + #")\b"#).map {
            Finding(line: $0.line, reason: "a C type in a signature that others see")
        }
    }
}
