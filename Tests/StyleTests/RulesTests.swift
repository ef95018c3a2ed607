import Testing

/// The rules themselves: each finds what it is for, and nothing else.
@Suite struct RulesTests {
    @Test(
        "comments and strings are no code, raw, multi-line and nested ones included",
        arguments: [
            (#"let a = "try!" // try!"#, "let a ="), (##"f(#"a " try! "#, 1)"##, "f( , 1)"),
            (#"g("x \(h("try! )")) y") + 1"#, "g( ) + 1"), ("a /* try! */ b", "a b"),
            ("x = \"\"\"\ntry! \"quoted\"\n\"\"\"\ny", "x = y"), (#"p("\\") + q"#, "p( ) + q"),
        ])
    func blanks(source: String, code: String) throws {
        let words = SwiftText(source).code.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(words == code)
    }

    @Test("imports are seen in every form, and those against the arrows are found")
    func imports() throws {
        let text = SwiftText(
            """
            public import HushBase
            @preconcurrency private import CRdKafka
            import struct Foundation.Date
            // import HushStream
            """)
        #expect(try Rules.importedModules(text).map(\.module) == ["HushBase", "CRdKafka", "Foundation"])
        #expect(
            try Rules.brokenImports(of: "HushAPNs", text).map(\.description) == [
                "2: HushAPNs must not import CRdKafka", "3: HushAPNs must not import Foundation",
            ])
        #expect(try Rules.brokenImports(of: "HushCore", SwiftText("import Glibc")).count == 1)
        #expect(try Rules.brokenImports(of: "HushNew", SwiftText("")).count == 1)
    }

    @Test("a function of 71 lines and a file of 601 are too long; one line less is not")
    func lengths() throws {
        func function(_ lines: Int) -> String {
            "func f(\n    a: () -> Void = {}\n) {\n" + String(repeating: "    a()\n", count: lines - 4) + "}"
        }
        #expect(try Rules.tooLong(SwiftText(function(70))).isEmpty)
        #expect(
            try Rules.tooLong(SwiftText("struct S {\n" + function(71) + "\n}")).map(\.description)
                == ["2: a function of 71 lines, at most 70"])
        let file = String(repeating: "let a = 1\n", count: 600)
        #expect(try Rules.tooLong(SwiftText(file)).isEmpty)
        #expect(try Rules.tooLong(SwiftText(file + "let b = 2\n")).map(\.line) == [1])
        let plan = "protocol P {\n    func a()\n    func b()\n}\n" + String(repeating: "let c = { 1 }\n", count: 80)
        #expect(try Rules.tooLong(SwiftText(plan)).isEmpty)
    }

    @Test(
        "banned calls are found in code alone",
        arguments: [
            ("try! f()", 1), ("a as! B", 1), ("fatalError(\"x\")", 1), ("print(1)", 1), ("debugPrint(1)", 1),
            ("// try! print(", 0), ("fingerprint(1)", 0), ("try? f()", 0), ("writer.print(1)", 0),
        ])
    func banned(code: String, count: Int) throws {
        #expect(try Rules.bannedCalls(SwiftText(code), mayPrint: false).count == count)
    }

    @Test("a clock that rules read is found")
    func clocks() throws {
        #expect(
            try Rules.readsClock(SwiftText("let now = Date()\nlet then = ContinuousClock.now")).map(\.line) == [1, 2])
        #expect(try Rules.readsClock(SwiftText("let then = Date(timeIntervalSince1970: 0)")).isEmpty)
    }

    @Test("a sleep is found unless a deadline stands above it")
    func sleeps() throws {
        #expect(try Rules.bareSleeps(SwiftText("a()\nusleep(1)")).map(\.line) == [2])
        #expect(try Rules.bareSleeps(SwiftText("try await Task.sleep(for: .seconds(1))")).count == 1)
        let far = "let deadline = 1" + String(repeating: "\n", count: 16) + "usleep(1)"
        #expect(try Rules.bareSleeps(SwiftText(far)).count == 1)
        #expect(try Rules.bareSleeps(SwiftText("while now < deadline {\n    usleep(1)\n}")).isEmpty)
    }

    @Test(
        "a promise without a comment is found, one with a comment is not",
        arguments: [
            ("final class A: @unchecked Sendable {}", 1),
            ("/// Safe: locked.\nfinal class A: @unchecked Sendable {}", 0),
            ("nonisolated(unsafe) let a = b  // Written once.", 0), ("let x = 1\nnonisolated(unsafe) var a = b", 1),
            ("// Of one thread.\nnonisolated(unsafe) var a = b\nnonisolated(unsafe) var c = d", 0),
        ])
    func promises(code: String, count: Int) throws {
        #expect(try Rules.unexplainedPromises(SwiftText(code)).count == count)
    }

    @Test(
        "C types are found where others would see them",
        arguments: [
            ("public let raw: OpaquePointer", 1), ("let raw: OpaquePointer", 0), ("package func f(_ s: SSL_CTX)", 1),
            ("public func send(_ push: PushRequest)", 0),
        ])
    func signatures(code: String, count: Int) throws {
        #expect(try Rules.shownCTypes(SwiftText(code)).count == count)
    }

    @Test("marks of unfinished work are found")
    func unfinished() throws {
        #expect(try Rules.unfinished(SwiftText("a()\n// TODO: b\n")).map(\.line) == [2])
    }
}
