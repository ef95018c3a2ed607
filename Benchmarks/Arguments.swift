/// `--name value` pairs after a verb.
struct Arguments {
    private var values: [String: String] = [:]

    init(_ words: some Sequence<String>) throws(UsageError) {
        var name: String?
        for word in words {
            if let known = name {
                values[known] = word
                name = nil
            } else if word.hasPrefix("--") {
                name = String(word.dropFirst(2))
            } else {
                throw UsageError("\(word): expected --name value")
            }
        }
        if let name { throw UsageError("--\(name): no value") }
    }

    func text(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError("--\(name) is missing") }
        return value
    }

    func number(_ name: String, or standard: Int) throws(UsageError) -> Int {
        guard let value = values[name] else { return standard }
        guard let number = Int(value) else { throw UsageError("--\(name): \(value) is no number") }
        return number
    }
}

/// Arguments that make no sense, with what is wrong.
struct UsageError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
