/// What is known of a setting apart from its value: enough for checking, listing and documenting it.
public struct SettingDefinition: Sendable {
    /// Lower case and dots, as `planner.dedupe.window`; the environment has `HUSH_PLANNER_DEDUPE_WINDOW`.
    public let key: String
    /// What values look like, as `duration, 1s to 1d`.
    public let form: String
    public let defaultText: String
    /// One sentence.
    public let doc: String
    public let isSecret: Bool
    /// Throws where a text is no value.
    let check: @Sendable (String) throws(BadValue) -> Void

    /// Whether it stands for one setting a name: its key has the part `NAME`.
    var isNamed: Bool { key.split(separator: ".").contains { $0 == SettingsTable.nameMark } }

    public var environmentName: String { SettingsTable.environmentName(of: key) }
}

/// A setting whose values have a type: `settings[.dedupeWindow]` is a `Duration`.
public struct Setting<Value: Sendable>: Sendable {
    public let definition: SettingDefinition
    let read: @Sendable (String) throws(BadValue) -> Value

    /// A setting with a form of its own; the default is text in that form.
    public init(
        _ key: String, form: String, default defaultText: String, secret: Bool = false, _ doc: String,
        read: @escaping @Sendable (String) throws(BadValue) -> Value
    ) {
        self.read = read
        definition = SettingDefinition(
            key: key, form: form, defaultText: defaultText, doc: doc, isSecret: secret,
            check: { (text) throws(BadValue) in _ = try read(text) })
    }
}

extension Setting where Value == String {
    public static func text(_ key: String, default defaultText: String, secret: Bool = false, _ doc: String) -> Setting
    {
        Setting(key, form: "text", default: defaultText, secret: secret, doc) { (text) throws(BadValue) in text }
    }

    /// A path; empty means none. Whether it leads somewhere shows when it is used.
    public static func file(_ key: String, default defaultText: String = "", _ doc: String) -> Setting {
        Setting(key, form: "path", default: defaultText, doc) { (text) throws(BadValue) in text }
    }
}

extension Setting where Value == Bool {
    public static func flag(_ key: String, default value: Bool, _ doc: String) -> Setting {
        Setting(key, form: "true or false", default: "\(value)", doc) { (text) throws(BadValue) in
            switch text {
            case "true": return true
            case "false": return false
            default: throw BadValue("must be true or false")
            }
        }
    }
}

extension Setting where Value == Int {
    public static func integer(
        _ key: String, in range: ClosedRange<Int>, default value: Int, _ doc: String
    ) -> Setting {
        let form = "\(range.lowerBound) to \(range.upperBound)"
        return Setting(key, form: "number, \(form)", default: "\(value)", doc) { (text) throws(BadValue) in
            guard let number = Int(text), range.contains(number) else {
                throw BadValue("must be a whole number, \(form)")
            }
            return number
        }
    }

    /// Bytes.
    public static func size(_ key: String, in range: ClosedRange<Int>, default value: Int, _ doc: String) -> Setting {
        let form = "\(SettingText.text(bytes: range.lowerBound)) to \(SettingText.text(bytes: range.upperBound))"
        let defaultText = SettingText.text(bytes: value)
        return Setting(key, form: "size, \(form)", default: defaultText, doc) { (text) throws(BadValue) in
            let bytes = try SettingText.size(text)
            guard range.contains(bytes) else { throw BadValue("must be \(form)") }
            return bytes
        }
    }
}

extension Setting where Value == Double {
    public static func number(
        _ key: String, in range: ClosedRange<Double>, default value: Double, _ doc: String
    ) -> Setting {
        let form = "\(range.lowerBound) to \(range.upperBound)"
        return Setting(key, form: "number, \(form)", default: "\(value)", doc) { (text) throws(BadValue) in
            guard let number = Double(text), range.contains(number) else { throw BadValue("must be a number, \(form)") }
            return number
        }
    }
}

extension Setting where Value == Duration {
    public static func duration(
        _ key: String, in range: ClosedRange<Duration>, default value: Duration, _ doc: String
    ) -> Setting {
        let form = "\(SettingText.text(range.lowerBound)) to \(SettingText.text(range.upperBound))"
        let defaultText = SettingText.text(value)
        return Setting(key, form: "duration, \(form)", default: defaultText, doc) { (text) throws(BadValue) in
            let duration = try SettingText.duration(text)
            guard range.contains(duration) else { throw BadValue("must be \(form)") }
            return duration
        }
    }
}

extension Setting where Value == [Duration] {
    /// Durations separated by commas, rising.
    public static func durations(_ key: String, default values: [Duration], _ doc: String) -> Setting {
        let defaultText = values.map { SettingText.text($0) }.joined(separator: ",")
        let form = "rising durations, by commas"
        return Setting(key, form: form, default: defaultText, doc) { (text) throws(BadValue) in
            var durations: [Duration] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                durations.append(try SettingText.duration(String(part)))
            }
            guard zip(durations, durations.dropFirst()).allSatisfy(<) else { throw BadValue("must rise") }
            return durations
        }
    }
}

extension Setting where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of an enumeration's names.
    public static func choice(_ key: String, default value: Value, _ doc: String) -> Setting {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return Setting(key, form: "one of \(names)", default: value.rawValue, doc) { (text) throws(BadValue) in
            guard let value = Value(rawValue: text) else { throw BadValue("must be one of \(names)") }
            return value
        }
    }
}
