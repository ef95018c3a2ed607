import HushBase

/// Splits a verb's arguments into options, settings and operands. Knows no file and no environment.
struct ArgumentParser {
    var options: [String: String] = [:]
    var settings: [(key: String, value: String)] = []
    var operands: [String] = []
    var configFile: String?
    var wantsHelp = false

    /// `--name value`, `--name=value`, `--switch`, `--some.key=value`, `-X property=value`; after `--` all is operands.
    init(_ arguments: [String], of verb: Verb) throws(UsageFault) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                break
            } else if argument == "--help" || argument == "-h" {
                wantsHelp = true
            } else if argument.hasPrefix("-X") {
                let pair = argument == "-X" ? rest.popFirst() : String(argument.dropFirst(2))
                try addProperty(pair)
            } else if argument.hasPrefix("--") {
                try addOption(argument.dropFirst(2), &rest, of: verb)
            } else if argument.hasPrefix("-") && argument.count > 1 {
                throw UsageFault("there is no option \(argument)")
            } else {
                operands.append(argument)
            }
        }
    }

    private mutating func addProperty(_ pair: String?) throws(UsageFault) {
        guard let pair, let equals = pair.firstIndex(of: "="), equals != pair.startIndex else {
            throw UsageFault("-X takes property=value, with a property of librdkafka")
        }
        settings.append(("kafka.\(pair[..<equals])", String(pair[pair.index(after: equals)...])))
    }

    private mutating func addOption(
        _ text: Substring, _ rest: inout ArraySlice<String>, of verb: Verb
    ) throws(UsageFault) {
        let equals = text.firstIndex(of: "=")
        let name = String(text[..<(equals ?? text.endIndex)])
        var value = equals.map { String(text[text.index(after: $0)...]) }
        let option = verb.options.first { $0.name == name }
        if let option, option.value == nil {
            guard value == nil else { throw UsageFault("--\(name) takes no value") }
            options[name] = ""
            return
        }
        guard option != nil || name.contains(".") || name == "config" else {
            let known = verb.options.map(\.name) + ["config", "help"]
            let hint = Nearest.match(for: name, among: known).map { "; did you mean --\($0)?" } ?? ""
            throw UsageFault("there is no option --\(name)\(hint)")
        }
        value = value ?? rest.popFirst()
        guard let value else { throw UsageFault("--\(name) needs a value") }
        if let setting = option?.setting {
            settings.append((setting, value))
        } else if option != nil {
            options[name] = value
        } else if name == "config" {
            configFile = value
        } else {
            settings.append((name, value))
        }
    }
}
