/// Every setting of a program, and the prefixes behind which keys belong to somebody else.
///
/// A key with the part `NAME`, as `apns.credential.NAME.key.file`, stands for as many settings as there are names: whoever sets
/// one chooses the name, of lower-case letters and digits.
public struct SettingsTable: Sendable {
    /// The part of a key that stands for a name.
    static let nameMark = "NAME"

    /// In the order in which they are listed.
    public let definitions: [SettingDefinition]
    /// As `kafka.`: a key that begins so and is not defined here is kept as it is, for its library to check.
    public let passThroughPrefixes: [String]
    private let byKey: [String: SettingDefinition]
    private let named: [(parts: (before: String, after: String), definition: SettingDefinition)]

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
        named = definitions.compactMap { definition in
            Self.parts(around: definition.key).map { (parts: $0, definition: definition) }
        }
    }

    /// The setting of a key, with the names of those that have one filled in.
    public subscript(key: String) -> SettingDefinition? {
        if let known = byKey[key] { return known.isNamed ? nil : known }
        return named.first { Self.name(in: key, between: $0.parts) != nil }?.definition
    }

    /// Whether a key, which may be one with `NAME`, is in the table.
    func defines(_ key: String) -> Bool { byKey[key] != nil }

    /// The name in a key that belongs to a definition with `NAME`; nil where it is another's.
    static func name(in key: String, of definition: SettingDefinition) -> String? {
        parts(around: definition.key).flatMap { name(in: key, between: $0) }
    }

    private static func parts(around key: String) -> (before: String, after: String)? {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        guard let place = parts.firstIndex(where: { $0 == nameMark }) else { return nil }
        return (
            parts[..<place].map { $0 + "." }.joined(), parts[(place + 1)...].map { "." + $0 }.joined()
        )
    }

    private static func name(in key: String, between parts: (before: String, after: String)) -> String? {
        guard key.hasPrefix(parts.before), key.hasSuffix(parts.after),
            key.utf8.count > parts.before.utf8.count + parts.after.utf8.count
        else { return nil }
        let name = key.dropFirst(parts.before.count).dropLast(parts.after.count)
        return isPart(name) ? String(name) : nil
    }

    /// Whether a key is no setting of ours but handed on.
    public func passesThrough(_ key: String) -> Bool {
        byKey[key] == nil && passThroughPrefixes.contains { key.hasPrefix($0) && key.count > $0.count }
    }

    /// The known key that looks most like this one, where one looks like it at all.
    public func nearest(to key: String) -> String? {
        let candidates = definitions.map { definition in
            guard let parts = Self.parts(around: definition.key), key.hasPrefix(parts.before) else {
                return definition.key
            }
            return parts.before + key.dropFirst(parts.before.count).prefix { $0 != "." } + parts.after
        }
        return Nearest.match(for: key, among: candidates)
    }

    static func environmentName(of key: String) -> String {
        "HUSH_" + key.uppercased().split(separator: ".", omittingEmptySubsequences: false).joined(separator: "_")
    }

    private static func isKey(_ key: String) -> Bool {
        key.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            isPart(part) || part == nameMark
        }
    }

    private static func isPart(_ part: Substring) -> Bool {
        !part.isEmpty && part.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber) }
    }
}
