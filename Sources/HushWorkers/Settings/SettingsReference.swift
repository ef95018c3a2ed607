private import HushBase

/// The page that documents the settings.
public enum SettingsReference {
    /// `docs/reference/settings.md`, whole.
    public static func markdown() -> String {
        var text = """
            # Settings

            One flat key space. A value comes from its default, then from the file `hush.properties` in the working directory (or the one that `--config` or
            `HUSH_CONFIG` names), then from the environment, then from the command line; the last one wins. `planner.dedupe.window` is

            - `planner.dedupe.window=7d` in the file, which is a Java properties file,
            - `HUSH_PLANNER_DEDUPE_WINDOW=7d` in the environment,
            - `--planner.dedupe.window=7d` on the command line.

            Durations are written `200ms`, `30s`, `5m`, `6h`, `3d` or in sums of these, sizes `4096`, `64KiB`, `128MiB`, `2GiB`. A key that does not exist is an error. `hush config` prints each
            value with its source.

            Other keys below `kafka.` go to librdkafka as they are: `kafka.security.protocol=SSL`, or `-X security.protocol=SSL` on the command line. Those that would break a
            guarantee are refused.

            `NAME` in a key stands for a name of your choice, of lower-case letters and digits: each name is one more of its kind.

            This page is made by `hush config --markdown`.

            """
        var section = ""
        for definition in HushSettings.table.definitions {
            let first = String(definition.key.prefix { $0 != "." })
            if first != section {
                section = first
                text += "\n## \(section)\n\n| key | value | default | |\n|---|---|---|---|\n"
            }
            let defaultText = definition.defaultText.isEmpty ? "none" : "`\(definition.defaultText)`"
            text += "| `\(definition.key)` | \(definition.form) | \(defaultText) | \(definition.doc) |\n"
        }
        return text
    }
}
