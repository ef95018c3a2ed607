public import HushSimulator
import HushWorkers

/// What a load test does.
public struct LoadOptions: Sendable {
    public var schedule: ArrivalSchedule
    public var mix = LoadMix()
    /// Items of so long from the begin are not measured.
    public var warmUp: Duration = .seconds(2)
    /// How long after the last item the rest may take.
    public var drain: Duration = .seconds(30)
    /// Workers of each stage to start; nil: others run already.
    public var workers: Int?
    /// The path of this program, which the workers are.
    public var program = ""
    /// Settings of the workers, as `--key=value`.
    public var workerArguments: [String] = []
    /// An existing directory for state, logs and certificates, which the caller removes.
    public var directory: String
    /// How APNs behaves where it is simulated here.
    public var faults = APNsFaults()
    /// Whether an APNs is simulated here: not where workers that run already have theirs.
    public var hasAPNs = true
    /// Whether pushes are written in the planner's place.
    public var isDeliveryOnly = false

    public init(schedule: ArrivalSchedule, directory: String) {
        self.schedule = schedule
        self.directory = directory
    }

    var stages: [Stage] { isDeliveryOnly ? [.deliver] : [.plan, .deliver] }
}
