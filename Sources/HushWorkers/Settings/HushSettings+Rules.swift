public import HushBase
public import HushCore

/// The settings of the rules: what becomes a `Policy`.
extension HushSettings {
    private static let second = Duration.seconds(1)
    private static let day = Duration.seconds(86_400)
    private static let defaults = Policy()

    // MARK: planner

    public static let lifeDefault = Setting.duration(
        "planner.life.default", in: second...(day * 400), default: defaults.lifeDefault,
        "How long a notification lives where its intent does not say.")
    public static let lifeMax = Setting.duration(
        "planner.life.max", in: second...(day * 400), default: defaults.lifeMax,
        "The longest life an intent may ask for; longer ones are cut to it.")
    public static let dedupeWindow = Setting.duration(
        "planner.dedupe.window", in: second...(day * 400), default: defaults.dedupeWindow,
        "How long an id is remembered; at least planner.life.max and a day. An older intent is stale.")
    public static let livePerRecipientMax = Setting.integer(
        "planner.live.max", in: 1...1024, default: defaults.livePerRecipientMax,
        "Live notifications of a recipient; the oldest makes room.")
    public static let devicesPerRecipientMax = Setting.integer(
        "planner.devices.max", in: 1...1024, default: defaults.devicesPerRecipientMax, "Devices of a recipient.")

    public static let sliceOpsMax = Setting.integer(
        "planner.slice.max", in: 1...960, default: defaults.sliceOpsMax,
        "Pushes that one slice of an audience plans at once.")
    public static let audiencesMax = Setting.integer(
        "planner.audiences.max", in: 1...100_000, default: defaults.audiencesMax,
        "Audiences whose tags a partition asks for at the same time; a new one beyond is a dead letter.")
    public static let sliceRate = Setting.integer(
        "planner.slice.rate", in: 1...10_000_000, default: defaults.sliceRate,
        "Pushes a second that audiences plan at most, over all partitions.")
    public static let sliceWaiting = Setting.integer(
        "planner.slice.waiting", in: 1...10_000_000, default: defaults.sliceWaitingMax,
        "Pushes that may wait for deliverers: audiences rest while there are more, so single intents wait no longer.")

    static let planner = [
        lifeDefault.definition, lifeMax.definition, dedupeWindow.definition, livePerRecipientMax.definition,
        devicesPerRecipientMax.definition, sliceOpsMax.definition, audiencesMax.definition, sliceRate.definition,
        sliceWaiting.definition,
    ]

    // MARK: deliver

    public static let batteryLow = Setting.number(
        "deliver.battery.low", in: 0...1, default: defaults.batteryLow,
        "A battery at or below this share, and not charging, holds background pushes.")
    public static let holdProbe = Setting.duration(
        "deliver.hold.probe", in: second...day, default: defaults.holdProbe,
        "The first hold of a low battery without a hint; it doubles from probe to probe.")
    public static let holdMax = Setting.duration(
        "deliver.hold.max", in: second...day, default: defaults.holdMax, "The longest hold without a hint.")
    public static let hintMax = Setting.duration(
        "deliver.hint.max", in: second...(day * 7), default: defaults.hintMax, "The longest hold by a hint.")
    public static let readingAgeMax = Setting.duration(
        "deliver.reading.max", in: second...day, default: defaults.readingAgeMax,
        "A battery reading older than this holds nothing.")
    public static let opsPerAddressMax = Setting.integer(
        "deliver.ops.max", in: 1...1024, default: defaults.opsPerAddressMax, "Unfinished ops of an address.")
    public static let quietMax = Setting.duration(
        "deliver.quiet.max", in: second...(day * 7), default: defaults.quietMax,
        "How long a quiet op waits for a push to ride on before it goes alone.")
    public static let repeatIntervals = Setting.durations(
        "deliver.repeat.intervals", default: defaults.repeatIntervals,
        "When an op that APNs took and the app did not acknowledge goes again alone.")
    public static let retryBase = Setting.duration(
        "deliver.retry.base", in: .milliseconds(10)...(.seconds(60)), default: defaults.retryBase,
        "The backoff before the first retry; it doubles, with full jitter.")
    public static let retryMax = Setting.duration(
        "deliver.retry.max", in: second...day, default: defaults.retryMax, "The longest backoff.")
    public static let opsParkedMax = Setting.integer(
        "deliver.parked.max", in: 1...10_000_000, default: defaults.opsParkedMax,
        "Ops that a paused credential may park in a partition before the partition pauses.")
    public static let wakeUpBurst = Setting.integer(
        "deliver.wakeup.burst", in: 0...1000, default: defaults.wakeUpBurst,
        "Background pushes that an address may get at once; 0 lifts the budget.")
    public static let wakeUpsPerHour = Setting.integer(
        "deliver.wakeup.hourly", in: 1...3600, default: defaults.wakeUpsPerHour,
        "Background pushes that an address earns in an hour.")
    public static let createBudgetWaitMax = Setting.duration(
        "deliver.wakeup.wait", in: second...day, default: defaults.createBudgetWaitMax,
        "How long a create waits for the budget at most.")
    public static let promptAck = Setting.duration(
        "deliver.wakeup.prompt", in: second...day, default: defaults.promptAck,
        "An acknowledgement within this time earns its wake-up back.")
    public static let addressRest = Setting.duration(
        "deliver.rest", in: second...day, default: defaults.addressRest,
        "How long an address rests after APNs finds that its token does not fit.")

    static let deliver = [
        batteryLow.definition, holdProbe.definition, holdMax.definition, hintMax.definition, readingAgeMax.definition,
        opsPerAddressMax.definition, quietMax.definition, repeatIntervals.definition, retryBase.definition,
        retryMax.definition, opsParkedMax.definition, wakeUpBurst.definition, wakeUpsPerHour.definition,
        createBudgetWaitMax.definition, promptAck.definition, addressRest.definition,
    ]
}

extension Policy {
    /// The rules' limits as they are set.
    ///
    /// - Throws: `SettingsFault` where settings contradict each other, naming what to change.
    public init(_ settings: Settings) throws(SettingsFault) {
        self.init()
        lifeDefault = settings[HushSettings.lifeDefault]
        lifeMax = settings[HushSettings.lifeMax]
        dedupeWindow = settings[HushSettings.dedupeWindow]
        livePerRecipientMax = settings[HushSettings.livePerRecipientMax]
        devicesPerRecipientMax = settings[HushSettings.devicesPerRecipientMax]
        sliceOpsMax = settings[HushSettings.sliceOpsMax]
        audiencesMax = settings[HushSettings.audiencesMax]
        sliceRate = settings[HushSettings.sliceRate]
        sliceWaitingMax = settings[HushSettings.sliceWaiting]
        batteryLow = settings[HushSettings.batteryLow]
        holdProbe = settings[HushSettings.holdProbe]
        holdMax = settings[HushSettings.holdMax]
        hintMax = settings[HushSettings.hintMax]
        readingAgeMax = settings[HushSettings.readingAgeMax]
        opsPerAddressMax = settings[HushSettings.opsPerAddressMax]
        quietMax = settings[HushSettings.quietMax]
        repeatIntervals = settings[HushSettings.repeatIntervals]
        retryBase = settings[HushSettings.retryBase]
        retryMax = settings[HushSettings.retryMax]
        opsParkedMax = settings[HushSettings.opsParkedMax]
        wakeUpBurst = settings[HushSettings.wakeUpBurst]
        wakeUpsPerHour = settings[HushSettings.wakeUpsPerHour]
        createBudgetWaitMax = settings[HushSettings.createBudgetWaitMax]
        promptAck = settings[HushSettings.promptAck]
        addressRest = settings[HushSettings.addressRest]
        let broken = violations()
        guard broken.isEmpty else { throw SettingsFault(broken) }
    }
}
