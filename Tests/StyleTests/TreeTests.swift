import Foundation
import Testing

/// The whole tree against the rules. Each failure lists every place.
@Suite struct TreeTests {
    /// Every Swift file, read and blanked once for all tests.
    private static let swift: [(path: String, text: Result<SwiftText, any Error>)] =
        ["Sources", "Tests", "Benchmarks"].flatMap { Tree.files(under: $0, endings: [".swift"]) }.map { path in
            (path, Result { SwiftText(try Tree.text(path)) })
        }

    private func files(under folders: [String]) throws -> [(path: String, text: SwiftText)] {
        let chosen = try Self.swift.filter { file in folders.contains { file.path.hasPrefix($0 + "/") } }
            .map { ($0.path, try $0.text.get()) }
        try #require(!chosen.isEmpty)
        return chosen
    }

    /// What a rule finds in the Swift files below some folders, as `path:line: reason`.
    private func findings(
        under folders: [String], _ rule: (_ path: String, SwiftText) throws -> [Finding]
    ) throws -> [String] {
        try files(under: folders).flatMap { path, text in try rule(path, text).map { "\(path):\($0)" } }
    }

    private func module(of path: String) -> String {
        String(path.split(separator: "/")[1])
    }

    @Test("modules import only what their arrows allow, and HushCore imports nothing")
    func imports() throws {
        let found = try findings(under: ["Sources"]) { path, text in
            try Rules.brokenImports(of: module(of: path), text)
        }
        #expect(found == [])
    }

    @Test("each C module is imported by one Swift module, CLinux excepted")
    func oneOwner() throws {
        var owners: [String: Set<String>] = [:]
        for (path, text) in try files(under: ["Sources"]) {
            for (_, imported) in try Rules.importedModules(text) {
                owners[imported, default: []].insert(module(of: path))
            }
        }
        let modules = try FileManager.default.contentsOfDirectory(atPath: Tree.root.path + "/Sources")
        for name in modules where name.hasPrefix("C") && name != "CLinux" {
            #expect(owners[name, default: []].count <= 1, "\(name): \(owners[name, default: []].sorted())")
        }
    }

    @Test("files and functions stay small")
    func lengths() throws {
        let found = try findings(under: ["Sources", "Tests", "Benchmarks"]) { _, text in try Rules.tooLong(text) }
        #expect(found == [])
    }

    @Test("sources do not print, trap or force; the command may print")
    func bannedInSources() throws {
        let found = try findings(under: ["Sources"]) { path, text in
            try Rules.bannedCalls(text, mayPrint: module(of: path) == "hush")
        }
        #expect(found == [])
    }

    @Test("tests and benchmarks do not trap or force")
    func bannedInTests() throws {
        let found = try findings(under: ["Tests", "Benchmarks"]) { _, text in
            try Rules.bannedCalls(text, mayPrint: true)
        }
        #expect(found == [])
    }

    @Test("rules read no clock")
    func clocks() throws {
        let found = try findings(under: ["Sources/HushCore", "Sources/HushKit"]) { _, text in
            try Rules.readsClock(text)
        }
        #expect(found == [])
    }

    @Test("nobody sleeps but in a wait with a deadline")
    func sleeps() throws {
        // The one pause between two tries of a call, whose deadline its callers have.
        let pause = "Sources/HushStream/Kafka/Pause.swift"
        let found = try findings(under: ["Sources", "Tests"]) { path, text in
            path == pause ? [] : try Rules.bareSleeps(text)
        }
        #expect(found == [])
    }

    @Test("nothing is left unfinished")
    func unfinished() throws {
        let found = try findings(under: ["Sources", "Tests", "Benchmarks"]) { path, text in
            path.hasPrefix("Tests/StyleTests") ? [] : try Rules.unfinished(text)
        }
        #expect(found == [])
    }

    @Test("promises to the compiler are explained")
    func promises() throws {
        let found = try findings(under: ["Sources"]) { _, text in try Rules.unexplainedPromises(text) }
        #expect(found == [])
    }

    @Test("no C type stands in a signature that others see")
    func signatures() throws {
        let found = try findings(under: ["Sources"]) { _, text in try Rules.shownCTypes(text) }
        #expect(found == [])
    }

    @Test("links in the documentation lead somewhere")
    func links() throws {
        var dead: [String] = []
        for path in Tree.files(endings: [".md"]) {
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            for link in try Pattern.matches(#"\]\(([^)#\s]+)"#, in: try Tree.text(path)).map(\.group)
            where !link.contains(":") && !Tree.exists("\(folder)/\(link)") {
                dead.append("\(path) -> \(link)")
            }
        }
        #expect(dead == [])
    }

    @Test("every test that the page of testing names is there")
    func namedTests() throws {
        let tests = try Tree.files(under: "Tests", endings: [".swift"]).map(Tree.text).joined()
        let page = try Tree.text("docs/internals/testing.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        let names = try Pattern.matches(#"("(?:[^"\\]|\\.)+")"#, in: page.joined(separator: "\n")).map(\.group)
        #expect(names.count > 100)
        #expect(names.filter { !tests.contains($0) } == [])
    }

    @Test("the page of metrics has every metric with its help text, and no other")
    func metrics() throws {
        let made = try Tree.files(under: "Sources", endings: [".swift"]).flatMap { path in
            try Pattern.matches(#""(hush_[a-z_]+",\s+"[^"]+)""#, in: try Tree.text(path)).map(\.group)
        }
        let inCode = Set(try made.map { try Pattern.replacing(#"",\s+""#, with: ": ", in: $0) })
        let rows = try Pattern.matches(#"^\| `(hush_[^\n]+) \|$"#, in: try Tree.text("docs/operating/metrics.md"))
        let inPage = Set(try rows.map { try Pattern.replacing(#"` \|.*\| "#, with: ": ", in: $0.group) })
        #expect(inCode.count > 10)
        #expect(inCode.subtracting(inPage).sorted() == [])
        #expect(inPage.subtracting(inCode).sorted() == [])
    }

    @Test("no file names a path of the machine it was written on")
    func machinePaths() throws {
        let text = [".swift", ".md", ".yml", ".yaml", ".json", ".txt", ".c", ".cpp", ".h", "Dockerfile"]
        let scripts = Tree.files(under: "scripts") + Tree.files(under: ".ci")
        // Put together here, so that this file does not break its own rule.
        let pattern = #"(?<![\w.])/(?:"# + #"work|farm|root|home/\w+)/"#
        let found = try (Tree.files(endings: text) + scripts).flatMap { path in
            try Pattern.matches(pattern, in: try Tree.text(path)).map { "\(path):\($0.line)" }
        }
        #expect(found == [])
    }
}
