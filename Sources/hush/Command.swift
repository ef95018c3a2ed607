import Foundation
import HushBase
import HushWorkers

/// The command line: finds the verb, gathers its settings, runs it, and turns what it throws into words and an exit code.
enum Command {
    static func run(_ arguments: [String]) -> ExitCode {
        do {
            return try dispatch(arguments.dropFirst())
        } catch let fault as UsageFault {
            complain("\(fault)")
            complain("try: hush help")
            return .usage
        } catch let fault as SettingsFault {
            for problem in fault.problems { complain(problem) }
            return .config
        } catch {
            complain("\(error)")
            return .failure
        }
    }

    private static func dispatch(_ arguments: ArraySlice<String>) throws -> ExitCode {
        guard let first = arguments.first else {
            FileHandle.standardError.write(Data(overview.utf8))
            return .usage
        }
        switch first {
        case "--version", "version":
            print("hush \(Build.version)")
            return .success
        case "--help", "-h", "help":
            if let name = arguments.dropFirst().first { print(help(of: try verb(name))) } else { print(overview) }
            return .success
        default:
            return try run(try verb(first), Array(arguments.dropFirst()))
        }
    }

    private static func run(_ verb: Verb, _ arguments: [String]) throws -> ExitCode {
        let parsed = try ArgumentParser(arguments, of: verb)
        if parsed.wantsHelp {
            print(help(of: verb))
            return .success
        }
        if verb.operands.isEmpty, let operand = parsed.operands.first {
            throw UsageFault("hush \(verb.name) takes no \"\(operand)\"")
        }
        let environment = ProcessInfo.processInfo.environment
        var loader = SettingsLoader(table: HushSettings.table)
        let file = parsed.configFile ?? environment["HUSH_CONFIG"]
        loader.addFile(file ?? "hush.properties", required: file != nil)
        loader.addEnvironment(environment)
        for setting in parsed.settings { loader.addArgument(setting.key, setting.value) }
        let settings = try loader.load()
        return try verb.run(
            Invocation(settings: settings, operands: parsed.operands, options: parsed.options))
    }

    private static func verb(_ name: String) throws(UsageFault) -> Verb {
        if let verb = Verb.all.first(where: { $0.name == name }) { return verb }
        let hint = Nearest.match(for: name, among: Verb.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        throw UsageFault("there is no verb \(name)\(hint)")
    }

    private static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("hush: \(sentence)\n".utf8))
    }

    private static var overview: String {
        let width = (Verb.all.map(\.name.count).max() ?? 0) + 2
        let verbs = Verb.all.map { "  \(padded($0.name, width))\($0.summary)\n" }.joined()
        return """
            hush \(Build.version): push notifications you can take back

            usage: hush VERB [OPTION...] [--some.setting=value...] [-X property=value...]

            \(verbs)
            hush help VERB tells more of one; hush config shows the settings and where they come from.

            """
    }

    private static func help(of verb: Verb) -> String {
        let usage = "usage: hush \(verb.name)\(verb.operands.isEmpty ? "" : " \(verb.operands)")"
        let common = [
            Option(name: "config", value: "FILE", doc: "read settings from FILE instead of hush.properties"),
            Option(name: "some.setting", value: "VALUE", doc: "set a setting (hush config lists them)"),
            Option(name: "help", value: nil, doc: "show this"),
        ]
        let options = (verb.options + common).map { option in
            ("--\(option.name)\(option.value.map { " \($0)" } ?? "")", option.doc)
        }
        let width = (options.map(\.0.count).max() ?? 0) + 2
        let lines = options.map { "  \(padded($0.0, width))\($0.1)" }.joined(separator: "\n")
        return "\(usage)\n\n\(verb.help)\n\n\(lines)"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
