import HushBase

/// What `/livez` allows, as it is set.
struct ProbeLimits: Hashable {
    var stallMax: Duration
    var progressMax: Duration

    /// - Throws: `SettingsFault` where the limits contradict each other, naming what to change.
    init(_ settings: Settings) throws(SettingsFault) {
        stallMax = settings[HushSettings.adminStallMax]
        progressMax = settings[HushSettings.adminProgressMax]
        // A loop that stands takes nothing, and is to be told as what it is.
        guard progressMax > stallMax else {
            throw SettingsFault([
                "\(HushSettings.adminProgressMax.definition.key) (\(SettingText.text(progressMax))) must be longer than "
                    + "\(HushSettings.adminStallMax.definition.key) (\(SettingText.text(stallMax))): raise it"
            ])
        }
    }
}
