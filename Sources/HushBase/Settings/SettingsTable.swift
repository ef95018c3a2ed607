/// Every setting of a program, and the prefixes behind which keys belong to somebody else.
public struct SettingsTable: Sendable {
    /// In the order in which they are listed.
    public let definitions: [SettingDefinition]
    /// As `kafka.`: a key that begins so and is not defined here is kept as it is, for its library to check.
    public let passThroughPrefixes: [String]
    private let byKey: [String: SettingDefinition]

    /// Traps where a key is defined twice, has another form than lower case and dots, or its default is no value of it.
    public init(_ definitions: [SettingDefinition], passThroughPrefixes: [String] = []) {
        self.definitions = definitions
        self.passThroughPrefixes = passThroughPrefixes
        var byKey: [String: SettingDefinition] = [:]
        for definition in definitions {
            precondition(Self.isKey(definition.key), "\(definition.key) is no key")
            let other = byKey.updateValue(definition, forKey: definition.key)
            precondition(other == nil, "\(definition.key) is there twice")
            do {
                try definition.check(definition.defaultText)
            } catch {
                preconditionFailure("the default of \(definition.key) \(error)")
            }
        }
        self.byKey = byKey
    }

    public subscript(key: String) -> SettingDefinition? { byKey[key] }

    /// Whether a key is no setting of ours but handed on.
    public func passesThrough(_ key: String) -> Bool {
        byKey[key] == nil && passThroughPrefixes.contains { key.hasPrefix($0) && key.count > $0.count }
    }

    /// The known key that looks most like this one, where one looks like it at all.
    public func nearest(to key: String) -> String? {
        Nearest.match(for: key, among: definitions.map(\.key))
    }

    static func environmentName(of key: String) -> String {
        "HUSH_" + key.uppercased().split(separator: ".", omittingEmptySubsequences: false).joined(separator: "_")
    }

    private static func isKey(_ key: String) -> Bool {
        key.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) }
        }
    }
}
