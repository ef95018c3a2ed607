import HushBase
import HushStream

/// The times of a slot as they are set, in the relations that Kafka's group and transactions want of them.
struct SlotTimes: Hashable {
    var commitInterval: Duration
    var transactionTimeout: Duration
    var sessionTimeout: Duration
    var drainMax: Duration

    /// How much longer than its session a slot may go without a poll.
    static let pollMargin = Duration.seconds(50)

    /// - Throws: `SettingsFault` where times contradict each other, naming what to change.
    init(_ settings: Settings) throws(SettingsFault) {
        commitInterval = settings[HushSettings.commitInterval]
        transactionTimeout = settings[HushSettings.transactionTimeout]
        sessionTimeout = settings[HushSettings.sessionTimeout]
        drainMax = settings[HushSettings.drainMax]
        let broken = violations()
        guard broken.isEmpty else { throw SettingsFault(broken) }
    }

    private func violations() -> [String] {
        func text(_ setting: Setting<Duration>, _ value: Duration) -> String {
            "\(setting.definition.key) (\(SettingText.text(value)))"
        }
        let transaction = text(HushSettings.transactionTimeout, transactionTimeout)
        var found: [String] = []
        if commitInterval + drainMax >= transactionTimeout {
            found.append(
                transaction + " must be longer than \(text(HushSettings.commitInterval, commitInterval)) and "
                    + "\(text(HushSettings.drainMax, drainMax)) together: raise it")
        }
        if transactionTimeout >= sessionTimeout {
            found.append(
                text(HushSettings.sessionTimeout, sessionTimeout) + " must be longer than \(transaction): raise it")
        }
        return found
    }

    func applied(to stream: StreamConfiguration) -> StreamConfiguration {
        var stream = stream
        stream.commitInterval = commitInterval
        stream.transactionTimeout = transactionTimeout
        stream.sessionTimeout = sessionTimeout
        stream.pollInterval = sessionTimeout + Self.pollMargin
        stream.drainLimit = drainMax
        return stream
    }
}
