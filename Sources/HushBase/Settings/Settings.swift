/// The effective settings of a process: each has a value that was checked, and a source.
public struct Settings: Sendable {
    /// Where a value came from.
    public enum Source: Hashable, Sendable, CustomStringConvertible {
        case byDefault
        case file(path: String, line: Int)
        case environment(name: String)
        case argument

        public var description: String {
            switch self {
            case .byDefault: "default"
            case .file(let path, let line): "\(path):\(line)"
            case .environment(let name): name
            case .argument: "command line"
            }
        }
    }

    /// A line of `hush config`.
    public struct Entry: Hashable, Sendable {
        public var key: String
        /// `********` where the value is a secret.
        public var shown: String
        public var source: Source
    }

    /// What is shown in the place of a secret.
    public static let mask = "********"

    public let table: SettingsTable
    let given: [String: (text: String, source: Source)]

    init(table: SettingsTable, given: [String: (text: String, source: Source)]) {
        self.table = table
        self.given = given
    }

    /// The defaults alone.
    public init(table: SettingsTable) {
        self.init(table: table, given: [:])
    }

    /// The value of a setting. Traps where the setting is not in the table, which is a programmer's mistake.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        value(of: setting, setting.definition.key)
    }

    /// The value of a setting with `NAME` in its key, for one of the names.
    public subscript<Value>(setting: Setting<Value>, name: String) -> Value {
        value(of: setting, key(of: setting, name))
    }

    /// The key of a setting with `NAME`, with the name in its place.
    public func key<Value>(of setting: Setting<Value>, _ name: String) -> String {
        setting.definition.key.split(separator: ".").map { $0 == SettingsTable.nameMark ? Substring(name) : $0 }
            .joined(separator: ".")
    }

    /// The names that any of these settings was given for, in order.
    public func names(of definitions: [SettingDefinition]) -> [String] {
        let names = given.keys.compactMap { key in
            definitions.lazy.compactMap { SettingsTable.name(in: key, of: $0) }.first
        }
        return Set(names).sorted()
    }

    private func value<Value>(of setting: Setting<Value>, _ key: String) -> Value {
        precondition(table.defines(setting.definition.key), "\(key) is not in the table of settings")
        do {
            return try setting.read(given[key]?.text ?? setting.definition.defaultText)
        } catch {
            preconditionFailure("\(key) was not checked: \(error)")
        }
    }

    public func source(of key: String) -> Source {
        given[key]?.source ?? .byDefault
    }

    /// What was given behind a prefix and is not ours, by the rest of its key: `kafka.linger.ms` is `linger.ms` here.
    public func passedThrough(_ prefix: String) -> [String: String] {
        var found: [String: String] = [:]
        for (key, value) in given where key.hasPrefix(prefix) && table.passesThrough(key) {
            found[String(key.dropFirst(prefix.count))] = value.text
        }
        return found
    }

    /// All settings in the table's order, then what is passed through, by key.
    public var entries: [Entry] {
        let ours = table.definitions.flatMap { definition in
            guard definition.isNamed else {
                let text = given[definition.key]?.text ?? definition.defaultText
                return [entry(definition.key, text, definition.isSecret)]
            }
            return given.filter { SettingsTable.name(in: $0.key, of: definition) != nil }.sorted { $0.key < $1.key }
                .map { entry($0.key, $0.value.text, definition.isSecret) }
        }
        let others = given.filter { table.passesThrough($0.key) }.sorted { $0.key < $1.key }
            .map { entry($0.key, $0.value.text, Self.soundsSecret($0.key)) }
        return ours + others
    }

    private func entry(_ key: String, _ text: String, _ isSecret: Bool) -> Entry {
        Entry(key: key, shown: isSecret && !text.isEmpty ? Self.mask : text, source: source(of: key))
    }

    /// Whether a key of a library holds something that nobody should read over a shoulder.
    private static func soundsSecret(_ key: String) -> Bool {
        ["password", "secret", "token", ".pem", "oauthbearer.config"].contains { key.contains($0) }
    }
}
