import HushBase
import HushCore
import HushWorkers

extension Verb {
    static let config = Verb(
        name: "config", summary: "shows the settings and where each comes from", operands: "[PREFIX...]",
        help: """
            Prints every setting as key=value and, behind a #, its source. Secrets are masked. With PREFIX only the
            settings whose keys begin so. Settings that contradict each other are an error.
            """,
        options: [
            Option(name: "changed", value: nil, doc: "only what is not a default"),
            Option(name: "markdown", value: nil, doc: "the reference page of all settings"),
        ]
    ) { invocation in
        if invocation.has("markdown") {
            print(SettingsReference.markdown(), terminator: "")
            return .success
        }
        let prefixes = invocation.operands
        let chosen = invocation.settings.entries.filter { entry in
            (prefixes.isEmpty || prefixes.contains { entry.key.hasPrefix($0) })
                && !(invocation.has("changed") && entry.source == .byDefault)
        }
        if chosen.isEmpty && !prefixes.isEmpty && !invocation.has("changed") {
            throw UsageFault("no setting begins with \(prefixes.joined(separator: " or "))")
        }
        for entry in chosen { print("\(entry.key)=\(entry.shown)  # \(entry.source)") }
        // Last, so that whoever looks for the contradiction sees the values.
        _ = try Policy(invocation.settings)
        return .success
    }
}
