/// Every limit and default that the rules know, in one place; docs/reference/settings.md is the same table.
public struct Policy: Hashable, Sendable {
    /// How long a notification lives where its intent does not say.
    public var lifeDefault: Duration = .seconds(3 * 86_400)
    /// The longest life an intent may ask for; longer ones are cut to it.
    public var lifeMax: Duration = .seconds(6 * 86_400)
    /// How long an id is remembered; an intent created before that is stale.
    public var dedupeWindow: Duration = .seconds(7 * 86_400)
    /// What the window must exceed the longest life by.
    public var dedupeGrace: Duration = .seconds(86_400)
    /// Live notifications a recipient; the oldest is evicted.
    public var livePerRecipientMax = 64
    /// Devices a recipient.
    public var devicesPerRecipientMax = 32
    /// Devices that one slice of an audience tells; nothing plans more pushes at once.
    public var sliceOpsMax = 250
    /// Recipients that one slice of an audience looks at.
    public var sliceRowsMax = 2000
    /// Audiences whose recipients a partition asks for their tags at the same time; a new one beyond is a dead letter.
    public var audiencesMax = 1000
    /// Pushes a second that audiences plan, over all partitions of an installation.
    public var sliceRate = 5000
    /// Pushes that may wait for deliverers while audiences plan more.
    public var sliceWaitingMax = 2000

    /// A battery at or below this, and not charging, is low.
    public var batteryLow: Double = 0.20
    /// The first hold of a low battery without a hint; doubles from probe to probe.
    public var holdProbe: Duration = .seconds(30 * 60)
    /// The longest hold without a hint.
    public var holdMax: Duration = .seconds(3600)
    /// The longest hold by a hint.
    public var hintMax: Duration = .seconds(12 * 3600)
    /// A reading older than this sets no gate.
    public var readingAgeMax: Duration = .seconds(10 * 60)

    /// Ops waiting at an address.
    public var opsPerAddressMax = 64
    /// How long a quiet op may wait for a push to ride on.
    public var quietMax: Duration = .seconds(6 * 3600)
    /// When an op that was accepted but not acknowledged goes again alone.
    public var repeatIntervals: [Duration] = [.seconds(30 * 60), .seconds(2 * 3600), .seconds(8 * 3600)]
    /// What was parked is asked for by a question for a hello, alone, so far apart and so often at most.
    public var helloInterval: Duration = .seconds(86_400)
    public var helloAsksMax = 6
    /// The backoff of retries: full jitter below `base · 2^n`, at most `max`.
    public var retryBase: Duration = .seconds(1)
    public var retryMax: Duration = .seconds(15 * 60)
    /// How long an op is tried again though no answer ever says what became of its pushes; then it is parked.
    public var unansweredMax: Duration = .seconds(7 * 86_400)
    /// A payload's size, in bytes.
    public var payloadBytesMax = 4096
    /// An id's size, in bytes.
    public var idBytesMax = 256
    /// Ops that a paused credential may park in a partition.
    public var opsParkedMax = 10_000
    /// How long a delete waits after APNs took the alert that it takes back: the system shows alerts without asking the
    /// app, so one that is overtaken by its delete would stand.
    public var alertDeleteWait: Duration = .seconds(10)
    /// How long an address rests after APNs finds that its token does not fit; a new bind ends it.
    public var addressRest: Duration = .seconds(3600)
    /// How long a create waits for the wake-up budget at most.
    public var createBudgetWaitMax: Duration = .seconds(60)
    /// An acknowledgement within this time earns its wake-up back.
    public var promptAck: Duration = .seconds(60)
    /// Wake-up budget of an address: the bucket's size, and what flows in an hour; a size of 0 lifts the budget.
    public var wakeUpBurst = 6
    public var wakeUpsPerHour = 3

    public init() {}

    /// The relations that must hold between settings, each broken one as a sentence that names what to change.
    public func violations() -> [String] {
        var found: [String] = []
        if lifeDefault > lifeMax {
            found.append("planner.life.default (\(lifeDefault)) exceeds planner.life.max (\(lifeMax)): lower the first")
        }
        if dedupeWindow < lifeMax + dedupeGrace {
            found.append(
                "planner.dedupe.window (\(dedupeWindow)) must be at least planner.life.max + \(dedupeGrace): raise it")
        }
        if holdProbe > holdMax {
            found.append("deliver.hold.probe (\(holdProbe)) exceeds deliver.hold.max (\(holdMax)): lower the first")
        }
        return found
    }
}
