import HushCore
public import HushStream

/// The planner as a stream application: one per slot, whose tasks share a decoder, for they run on one thread.
public final class PlannerApplication: StreamApplication {
    private let configuration: PlannerConfiguration
    private let decoder = InputDecoder()
    private let metrics: PlannerMetrics
    private let slices: SlicePace

    public init(_ configuration: PlannerConfiguration) {
        self.configuration = configuration
        metrics = PlannerMetrics(configuration.metrics)
        let policy = configuration.policy
        slices = SlicePace(
            SlicePace.Limits(rate: policy.sliceRate, waitingMax: policy.sliceWaitingMax),
            backlog: configuration.backlog, now: configuration.now)
    }

    public func makeTask(partition: Int32) -> PlannerTask {
        PlannerTask(partition: partition, configuration, decoder: decoder, metrics: metrics, slices: slices)
    }

    /// The planner's records are all it knows; nothing comes from elsewhere. A slice may be taken again.
    public func turn(_ tasks: [Int32: (task: PlannerTask, context: TaskContext)]) {
        let all = tasks.first?.value.context.partitionCount(PlannerConfiguration.Output.fanout.rawValue)
        slices.turn(mine: tasks.count, of: all.map(Int.init) ?? 1)
    }

    public var isSaturated: Bool { false }

    /// Kafka fences a planner that was stopped: it has no side effects elsewhere.
    public func wasFrozen() {}
}
