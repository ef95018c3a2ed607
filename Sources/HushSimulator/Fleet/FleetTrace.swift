import HushCore

/// The story of one household, made as short as it goes: whatever is not needed for its violation is left out.
public struct FleetTrace: Sendable {
    /// What is left of what was put in.
    public private(set) var inputs: [String] = []
    /// What happened then.
    public private(set) var lines: [String] = []
    public private(set) var violations: [FleetViolation] = []

    /// Runs that are spent on making it shorter.
    static let runsMax = 600

    init(_ options: FleetOptions, household: Int) {
        let sizes = FleetScript.households(options)
        guard sizes.indices.contains(household) else { return }
        let script = FleetScript(options, household: household, phones: sizes[household])
        var shrinking = FleetShrinking(options, household, script)
        shrinking.shrink()
        let run = shrinking.run(isTraced: true)
        violations = run.violations
        let about = run.violations.first?.phone
        lines = (run.trace ?? []).filter { line in
            guard let about else { return true }
            return line.contains(" phone \(about) ") || !line.contains(" phone ")
        }
        inputs = shrinking.script.spells.map { "\(Self.text($0.start)) phone \($0.phone) \($0.kind.fault.name)" }
        inputs += shrinking.script.lags.map { lag in
            let what = lag.isDevicesAlone ? "device records lag" : "the planner stands still"
            return "\(Self.text(lag.start)) person \(lag.person): \(what) until \(Self.text(lag.end))"
        }
        inputs += shrinking.script.crashes.map { "\(Self.text($0)) the deliverers die" }
        inputs += shrinking.script.workload.events.map { "\(Self.text($0.at)) \($0.event)" }
        inputs.sort()
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let digits = "\(seconds)"
        return String(repeating: " ", count: max(0, 7 - digits.count)) + digits + " s"
    }
}

/// Leaves out parts of a household's inputs and faults, as long as its first violation stays.
private struct FleetShrinking {
    private(set) var options: FleetOptions
    private let household: Int
    private(set) var script: FleetScript
    private let reader = PayloadReader()
    private var runs = 0
    private var wanted: FleetViolation.Kind?

    init(_ options: FleetOptions, _ household: Int, _ script: FleetScript) {
        self.options = options
        self.household = household
        self.script = script
    }

    func run(isTraced: Bool) -> FleetHousehold {
        let run = FleetHousehold(options, number: household, script, reader: reader, isTraced: isTraced)
        run.run()
        return run
    }

    mutating func shrink() {
        wanted = run(isTraced: false).violations.first?.kind
        if wanted == nil { return }
        dropFaults()
        script.crashes = shrunk(script.crashes) { $0.crashes = $1 }
        script.lags = shrunk(script.lags) { $0.lags = $1 }
        script.workload.events = shrunk(script.workload.events) { $0.workload.events = $1 }
        script.spells = shrunk(script.spells) { $0.spells = $1 }
    }

    private mutating func stillFails(_ options: FleetOptions, _ script: FleetScript) -> Bool {
        runs += 1
        if runs > FleetTrace.runsMax { return false }
        let run = FleetHousehold(options, number: household, script, reader: reader)
        run.run()
        return run.violations.contains { $0.kind == wanted }
    }

    /// Kinds of faults that the violation does not need.
    private mutating func dropFaults() {
        let quiet: [(inout FleetFaults) -> Void] = [
            { $0.lost = 0 }, { $0.late = 0 }, { $0.doubled = 0 }, { $0.ackLost = 0 }, { $0.ackLate = 0 },
            { $0.ackDoubled = 0 }, { $0.logoutLost = 0 }, { $0.planAborted = 0 }, { $0.deliveryAborted = 0 },
            { $0.apns.tooManyRequests = 0 },
            { $0.apns.internalError = 0 }, { $0.apns.unavailable = 0 }, { $0.apns.reset = 0 }, { $0.apns.silence = 0 },
        ]
        for drop in quiet {
            var fewer = options
            drop(&fewer.faults)
            if stillFails(fewer, script) { options = fewer }
        }
    }

    /// Leaves out ever smaller runs of a list's members.
    private mutating func shrunk<Member>(
        _ members: [Member], _ put: (inout FleetScript, [Member]) -> Void
    ) -> [Member] {
        var left = members
        var size = max(1, left.count / 2)
        while !left.isEmpty {
            var start = 0
            while start < left.count {
                var fewer = left
                fewer.removeSubrange(start..<min(start + size, left.count))
                var shorter = script
                put(&shorter, fewer)
                if stillFails(options, shorter) { left = fewer } else { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
        return left
    }
}
