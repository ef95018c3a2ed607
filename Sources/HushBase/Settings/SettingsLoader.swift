/// Everything that is wrong with the settings, one sentence each.
public struct SettingsFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public init(_ problems: [String]) {
        self.problems = problems
    }

    public var description: String { problems.joined(separator: "\n") }
}

/// Gathers settings from file, environment and command line, later ones over earlier ones, and checks all at once.
public struct SettingsLoader {
    private let table: SettingsTable
    private var given: [String: (text: String, source: Settings.Source)] = [:]
    private var problems: [String] = []

    public init(table: SettingsTable) {
        self.table = table
    }

    /// Begins with what other settings were given, for some of them to be changed.
    public init(_ settings: Settings) {
        table = settings.table
        given = settings.given
    }

    /// Takes a properties file. A file that was not asked for may be missing.
    public mutating func addFile(_ path: String, required: Bool) {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path)
        } catch {
            if required || !error.isNotFound { problems.append("cannot read \(path): \(error)") }
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            problems.append("\(path): not UTF-8")
            return
        }
        do {
            for entry in try PropertiesFile.parse(text) {
                add(entry.key, entry.value, from: .file(path: path, line: entry.line))
            }
        } catch {
            problems.append("\(path):\(error.line): \(error.reason)")
        }
    }

    /// Takes the variables that begin with `HUSH_`; the others are not looked at.
    ///
    /// `HUSH_CONFIG` names the file and `HUSH_TEST_…` belongs to the tests. Kubernetes describes a service named `hush-…` in
    /// variables such as `HUSH_PLANNER_SERVICE_HOST` and `HUSH_PLANNER_PORT_8080_TCP`; these are skipped too.
    public mutating func addEnvironment(_ variables: [String: String]) {
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) where name.hasPrefix("HUSH_") {
            let rest = name.dropFirst("HUSH_".count).lowercased()
            let key = rest.split(separator: "_", omittingEmptySubsequences: false).joined(separator: ".")
            if table[key] == nil && isForeign(name, value) { continue }
            add(key, value, from: .environment(name: name))
        }
    }

    /// Takes `--key=value` from the command line.
    public mutating func addArgument(_ key: String, _ value: String) {
        add(key, value, from: .argument)
    }

    /// The settings, where all is right with them.
    public func load() throws(SettingsFault) -> Settings {
        guard problems.isEmpty else { throw SettingsFault(problems) }
        return Settings(table: table, given: given)
    }

    private mutating func add(_ key: String, _ text: String, from source: Settings.Source) {
        if let definition = table[key] {
            do {
                try definition.check(text)
                given[key] = (text, source)
            } catch {
                let shown = definition.isSecret ? "" : " \"\(text)\""
                problems.append("\(source): \(key)\(shown) \(error)")
            }
        } else if table.passesThrough(key) {
            given[key] = (text, source)
        } else {
            let hint = table.nearest(to: key).map { "; did you mean \(name(of: $0, in: source))?" } ?? ""
            problems.append("\(source): there is no setting \(name(of: key, in: source))\(hint)")
        }
    }

    private func name(of key: String, in source: Settings.Source) -> String {
        if case .environment = source { return SettingsTable.environmentName(of: key) }
        return key
    }

    private func isForeign(_ name: String, _ value: String) -> Bool {
        if name == "HUSH_CONFIG" || name.hasPrefix("HUSH_TEST_") { return true }
        return name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || ["tcp", "udp", "sctp"].contains { value.hasPrefix("\($0)://") || name.contains("_\($0.uppercased())") }
    }
}
