import HushBase
import HushCore
import HushWorkers

/// A verb as it was called: its options, its operands, the settings.
struct Invocation: Sendable {
    let settings: Settings
    let log: Log
    /// What is neither option nor setting, in order.
    let operands: [String]
    private let options: [String: String]

    init(settings: Settings, operands: [String], options: [String: String]) {
        self.settings = settings
        self.operands = operands
        self.options = options
        let format: LogFormat? =
            switch settings[HushSettings.logFormat] {
            case .auto: nil
            case .json: .json
            case .text: .text(colored: Terminal.wantsColor)
            }
        log = Log("hush", to: .standardError(level: settings[HushSettings.logLevel], format: format))
    }

    /// Whether a switch was given.
    func has(_ option: String) -> Bool { options[option] != nil }

    /// An option's value; the last one where it was given twice.
    func text(_ option: String) -> String? { options[option] }

    func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageFault) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageFault("--\(option) must be a whole number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func number(_ option: String, in range: ClosedRange<Double>) throws(UsageFault) -> Double? {
        guard let text = options[option] else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw UsageFault("--\(option) must be a number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func time(_ option: String) throws(UsageFault) -> Timestamp? {
        guard let text = options[option] else { return nil }
        guard let time = Timestamp(rfc3339: Bytes(text)) else {
            throw UsageFault("--\(option) must be a time of RFC 3339, such as 2026-12-01T10:00:00Z")
        }
        return time
    }

    func duration(_ option: String) throws(UsageFault) -> Duration? {
        guard let text = options[option] else { return nil }
        do {
            return try SettingText.duration(text)
        } catch {
            throw UsageFault("--\(option) \(error)")
        }
    }
}
