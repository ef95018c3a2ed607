import HushBase

/// What a process tells its caller when it ends.
struct ExitCode: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let success = ExitCode(rawValue: 0)
    static let failure = ExitCode(rawValue: 1)
    /// The command line is wrong (`EX_USAGE`).
    static let usage = ExitCode(rawValue: 64)
    /// What was read is not whole, so nothing can be said for certain (`EX_DATAERR`).
    static let dataError = ExitCode(rawValue: 65)
    /// There is nothing to work on (`EX_NOINPUT`).
    static let noInput = ExitCode(rawValue: 66)
    /// The brokers cannot be reached or do not answer (`EX_UNAVAILABLE`).
    static let unavailable = ExitCode(rawValue: 69)
    /// A file cannot be written (`EX_IOERR`).
    static let ioError = ExitCode(rawValue: 74)
    /// The settings are wrong (`EX_CONFIG`).
    static let config = ExitCode(rawValue: 78)
}

/// Something is wrong with the command line: a sentence for whoever typed it.
struct UsageFault: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// An option of a verb. Options with a dot in their name are settings and known to all verbs.
struct Option: Sendable {
    /// Without dashes.
    let name: String
    /// What its value is called in the help, as `FILE`; nil for a switch.
    let value: String?
    let doc: String
    /// The setting that the option is a short name of; its value is then in the settings.
    var setting: String?
}

/// One thing that `hush` does. Its work is in a module below; here is what it is called with.
struct Verb: Sendable {
    let name: String
    /// One line for the list of verbs.
    let summary: String
    /// What follows the name, as `create|check`; empty where nothing may.
    let operands: String
    /// Paragraphs for `hush help VERB`.
    let help: String
    let options: [Option]
    let run: @Sendable (Invocation) throws -> ExitCode

    /// In the order of `hush help`.
    static let all: [Verb] = [
        .demo, .simulate, .topics, .run, .publish, .audit, .replay, .snapshot, .dead, .load, .apns, .config,
    ]
}
