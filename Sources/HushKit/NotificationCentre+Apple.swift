#if canImport(UserNotifications)
    import Foundation
    public import HushCore
    public import UserNotifications

    /// The notification centre of iOS and macOS.
    public final class UserNotificationCentre: NotificationCentre {
        private let centre: UNUserNotificationCenter

        public init(_ centre: UNUserNotificationCenter = .current()) {
            self.centre = centre
        }

        public func show(_ notification: HushNotification, sound: Bool) {
            let content = UNMutableNotificationContent()
            content.title = notification.content.title?.text ?? ""
            content.body = notification.content.body?.text ?? ""
            content.badge = notification.content.badge.map { NSNumber(value: $0) }
            content.categoryIdentifier = notification.content.category?.text ?? ""
            content.threadIdentifier = notification.content.thread?.text ?? ""
            if sound, let name = notification.content.sound?.text {
                content.sound = name == "default" ? .default : UNNotificationSound(named: .init(name))
            }
            if #available(iOS 15, macOS 12, watchOS 8, *), !sound { content.interruptionLevel = .passive }
            centre.add(
                UNNotificationRequest(identifier: notification.identifier.text, content: content, trigger: nil))
        }

        public func remove(_ identifiers: [Bytes]) {
            let names = identifiers.map(\.text)
            centre.removePendingNotificationRequests(withIdentifiers: names)
            centre.removeDeliveredNotifications(withIdentifiers: names)
        }

        /// Gives the identifiers of what the centre holds, for `HushCompletion`; on a thread of the system's.
        public func held(_ answer: @escaping @Sendable ([Bytes]) -> Void) {
            centre.getDeliveredNotifications { delivered in
                answer(delivered.map { Bytes($0.request.identifier) })
            }
        }

        public func setBadge(_ count: Int64) {
            let number = Int(clamping: count)
            if #available(iOS 16, macOS 13, *) { centre.setBadgeCount(number) { _ in } }
        }

        /// The centre answers later, so what is shown after this call is told apart by its date.
        public func removeAll() {
            let asked = Date()
            centre.getDeliveredNotifications { [centre] delivered in
                let ours = delivered.filter { $0.date < asked }.map(\.request.identifier)
                    .filter { StableIdentifier.isOurs(Bytes($0)) }
                centre.removeDeliveredNotifications(withIdentifiers: ours)
            }
        }
    }

    extension HushDelivered {
        /// What `UNUserNotificationCenter.deliveredNotifications` gives.
        public init(_ notification: UNNotification) {
            self.init(
                identifier: Bytes(notification.request.identifier),
                payload: PayloadValue(userInfo: notification.request.content.userInfo))
        }
    }

    extension PayloadValue {
        /// The payload of a push as the system hands it over; members whose names are no text are left out.
        public init(userInfo: [AnyHashable: Any]) {
            self.init(any: userInfo)
        }

        /// The JSON text that some senders put into a string; nil where it is no JSON.
        public init?(json text: Bytes) {
            guard let value = try? JSONSerialization.jsonObject(with: Data(text.raw)) else { return nil }
            self.init(any: value)
        }

        private init(any value: Any) {
            switch value {
            case let text as String: self = .string(Bytes(text))
            case let number as NSNumber where CFGetTypeID(number) == CFBooleanGetTypeID():
                self = .bool(number.boolValue)
            case let number as NSNumber:
                self = CFNumberIsFloatType(number) ? .double(number.doubleValue) : .integer(number.int64Value)
            case let values as [Any]: self = .array(values.map(PayloadValue.init(any:)))
            case let members as [AnyHashable: Any]:
                self = .object(
                    Dictionary(
                        members.compactMap { name, value in
                            (name as? String).map { (Bytes($0), PayloadValue(any: value)) }
                        }, uniquingKeysWith: { $1 }))
            default: self = .null
            }
        }
    }
#endif
