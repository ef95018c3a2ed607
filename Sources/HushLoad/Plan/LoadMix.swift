import HushCore

/// What items are: shares of all, each from 0 to 1; what is left are new notifications.
public struct LoadMix: Hashable, Sendable {
    public var reads = 0.15
    public var retracts = 0.02
    public var updates = 0.03
    /// Items that were sent before, byte for byte.
    public var duplicates = 0.05
    /// Records that cannot be read.
    public var bad = 0.001
    /// Notifications for an audience: for everybody whose device has one tag.
    public var audiences = 0.0
    /// How many people have the same tag, about.
    public var audienceSize = 100
    /// New notifications that go to the few recipients who get more than others: one of a hundred.
    public var hot = 0.1
    public var seed: UInt64 = 1
    public var recipients = 10_000
    /// Names this run in ids and recipients, so that runs do not meet.
    public var run = "load-"
    /// Which of the trials of a run: its notifications are others than those of the trials before, for the same people.
    public var trial = 1
    /// How many items lie between a notification and what happens to it later.
    public var distance = 1000
    public var urgent = false
    /// What fills the body of a notification, in bytes.
    public var bodyBytes = 80

    public init() {}

    /// What the ids of all trials begin with, and those of this one.
    var idPrefix: String { run + "t" }
    var trialPrefix: String { "\(idPrefix)\(trial)-" }

    /// What is wrong with it; nil where it is good.
    public var fault: String? {
        let shares = [reads, retracts, updates, duplicates, bad, audiences]
        guard (shares + [hot]).allSatisfy({ (0...1).contains($0) }), shares.reduce(0, +) <= 1 else {
            return "the shares of the mix must lie between 0 and 1, and be at most 1 together"
        }
        if recipients < 1 { return "there must be a recipient" }
        if audienceSize < 1 { return "an audience must have somebody" }
        return nil
    }

    /// Only new notifications: what the delivery stage alone is loaded with.
    public static func createsOnly(_ mix: LoadMix) -> LoadMix {
        var mix = mix
        (mix.reads, mix.retracts, mix.updates, mix.duplicates, mix.bad, mix.audiences) = (0, 0, 0, 0, 0, 0)
        return mix
    }

    /// How many tags there are; people have them by turns.
    var groups: Int { max(1, recipients / max(1, audienceSize)) }

    /// The tag's number of a recipient's device.
    func group(of recipient: Int) -> Int { recipient % groups }

    /// How many devices have a tag.
    public func members(of group: Int) -> Int { recipients / groups + (group < recipients % groups ? 1 : 0) }
}

/// One item of a load test; a function of the mix and its number.
public struct LoadItem: Hashable, Sendable {
    public enum Kind: Hashable, Sendable, CaseIterable {
        case create, update, read, retract, duplicate, bad, audience
    }

    public var kind: Kind
    /// The item that made the notification it is about; its own number for a new one.
    public var subject: Int
    /// The number of the recipient; of an audience that of its tag.
    public var recipient: Int
}

extension LoadMix {
    /// Item *i*. What happens to a notification happens to one that was made `distance` to twice as many items before;
    /// where there is none yet, the item is a new notification.
    public func item(_ index: Int) -> LoadItem {
        var (drawn, random) = draw(index)
        switch drawn.kind {
        case .create, .bad, .audience: return drawn
        case .read, .retract, .update, .duplicate:
            let back = distance + Int.random(in: 0...distance, using: &random)
            // A few steps find a new notification; each item costs a constant time.
            for step in 0..<16 where index - back - step >= 0 {
                let earlier = draw(index - back - step).item
                if earlier.kind == .create {
                    return LoadItem(kind: drawn.kind, subject: earlier.subject, recipient: earlier.recipient)
                }
            }
            drawn.kind = .create
            return drawn
        }
    }

    /// What the draw of an item alone makes it, and the dice behind that.
    private func draw(_ index: Int) -> (item: LoadItem, random: SplitMix64) {
        var random = SplitMix64(seed: seed &+ UInt64(index) &* 0x9e37_79b9_7f4a_7c15)
        // The first numbers of near seeds are near each other's mix; one step apart they are not.
        _ = random.next()
        var point = Double.random(in: 0..<1, using: &random)
        func falls(in share: Double) -> Bool {
            point -= share
            return point < 0
        }
        let kind: LoadItem.Kind =
            if falls(in: reads) {
                .read
            } else if falls(in: retracts) {
                .retract
            } else if falls(in: updates) {
                .update
            } else if falls(in: duplicates) {
                .duplicate
            } else if falls(in: bad) {
                .bad
            } else if falls(in: audiences) {
                .audience
            } else {
                .create
            }
        if kind == .audience {
            let group = Int.random(in: 0..<groups, using: &random)
            return (LoadItem(kind: kind, subject: index, recipient: group), random)
        }
        let isHot = Double.random(in: 0..<1, using: &random) < hot
        let crowd = isHot ? max(1, recipients / 100) : recipients
        return (LoadItem(kind: kind, subject: index, recipient: Int.random(in: 0..<crowd, using: &random)), random)
    }
}
