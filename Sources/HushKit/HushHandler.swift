public import HushCore

/// What an app does with what a notification carries beside its text. Every requirement has an empty default.
public protocol HushHandler: AnyObject {
    /// Go to a place in the app.
    func open(deepLink: Bytes)
    /// Open a web page. Never called in the background.
    func open(url: Bytes)
    /// Show a web page inside of the app.
    func open(landingPage: Bytes)
    /// Offer this text to share.
    func share(_ text: Bytes)
    /// Open the message centre; the value names a message, or is `auto` for the one that came with it.
    func openMessageCenter(_ message: Bytes)
    func add(tags: [Bytes])
    func remove(tags: [Bytes])
    /// Keep an in-app message for the next time the app is in the foreground.
    func present(inApp: PayloadValue)
    /// An action of the app's own, by the name its sender gave it.
    func perform(action name: Bytes, value: PayloadValue)
}

extension HushHandler {
    public func open(deepLink: Bytes) {}
    public func open(url: Bytes) {}
    public func open(landingPage: Bytes) {}
    public func share(_ text: Bytes) {}
    public func openMessageCenter(_ message: Bytes) {}
    public func add(tags: [Bytes]) {}
    public func remove(tags: [Bytes]) {}
    public func present(inApp: PayloadValue) {}
    public func perform(action name: Bytes, value: PayloadValue) {}
}

/// When the actions of a notification run.
public enum HushSituation: Hashable, Sendable {
    /// It arrived, and the app runs in the background or in the foreground.
    case received
    /// The person opened it.
    case opened
    /// The person pressed one of its buttons.
    case pressed(button: Bytes)
    /// The person opened its in-app message.
    case inAppOpened
    /// The person pressed a button of its in-app message.
    case inAppPressed(button: Bytes)
}

/// One call of a `HushHandler`.
public enum HushHandlerCall: Hashable, Sendable {
    case deepLink(Bytes)
    case url(Bytes)
    case landingPage(Bytes)
    case share(Bytes)
    case messageCenter(Bytes)
    case addTags([Bytes])
    case removeTags([Bytes])
    case inApp(PayloadValue)
    case action(name: Bytes, value: PayloadValue)

    public func perform(on handler: any HushHandler) {
        switch self {
        case .deepLink(let link): handler.open(deepLink: link)
        case .url(let url): handler.open(url: url)
        case .landingPage(let page): handler.open(landingPage: page)
        case .share(let text): handler.share(text)
        case .messageCenter(let message): handler.openMessageCenter(message)
        case .addTags(let tags): handler.add(tags: tags)
        case .removeTags(let tags): handler.remove(tags: tags)
        case .inApp(let message): handler.present(inApp: message)
        case .action(let name, let value): handler.perform(action: name, value: value)
        }
    }
}

extension HushContent {
    /// What the handler is called for, in order.
    ///
    /// On arrival tags change and an in-app message is kept; links open only by the person's hand, as in Airship, whose
    /// names for actions of buttons and in-app messages are understood: `^+t`, `^-t`, `^d`, `^u`, `^p`, `^s`, `^mc` and
    /// their long forms.
    public func calls(_ situation: HushSituation) -> [HushHandlerCall] {
        var calls: [HushHandlerCall] = []
        switch situation {
        case .received:
            if !tagsAdded.isEmpty { calls.append(.addTags(tagsAdded)) }
            if !tagsRemoved.isEmpty { calls.append(.removeTags(tagsRemoved)) }
            if let inApp { calls.append(.inApp(inApp)) }
        case .opened:
            if let link { calls.append(.deepLink(link)) }
            if let url { calls.append(.url(url)) }
            if let landingPage { calls.append(.landingPage(landingPage)) }
            if let share { calls.append(.share(share)) }
            if let messageCenter { calls.append(.messageCenter(messageCenter)) }
        case .pressed(let button): calls = Self.calls(actions[button])
        case .inAppOpened: calls = Self.calls(inApp?["actions"]?["on_click"])
        case .inAppPressed(let button): calls = Self.calls(inApp?["actions"]?["button_actions"]?[button])
        }
        return calls
    }

    /// The actions of one object, in the order of their names.
    private static func calls(_ actions: PayloadValue?) -> [HushHandlerCall] {
        (actions?.object ?? [:]).sorted { $0.key < $1.key }.compactMap { call($0.key, $0.value) }
    }

    /// Nil where the value is not of the type that its action takes.
    private static func call(_ name: Bytes, _ value: PayloadValue) -> HushHandlerCall? {
        let tags = value.string.map { [$0] } ?? value.strings
        switch name {
        case "^+t", "add_tags_action": return tags.isEmpty ? nil : .addTags(tags)
        case "^-t", "remove_tags_action": return tags.isEmpty ? nil : .removeTags(tags)
        case "^d", "deep_link_action": return value.string.map { .deepLink($0) }
        case "^u", "open_external_url_action": return value.string.map { .url($0) }
        case "^p", "landing_page_action": return value.string.map { .landingPage($0) }
        case "^s", "share_action": return value.string.map { .share($0) }
        case "^mc", "open_mc_action": return value.string.map { .messageCenter($0) }
        default: return .action(name: name, value: value)
        }
    }
}
