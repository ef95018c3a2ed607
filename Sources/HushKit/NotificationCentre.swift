public import HushCore

/// The system's notification centre, as HushKit needs it.
///
/// On Apple's systems `UserNotificationCentre` is one; the simulator's phones have another.
public protocol NotificationCentre: AnyObject {
    /// Puts a notification on the screen in place of what has its identifier.
    func show(_ notification: HushNotification, sound: Bool)
    /// Removes what was delivered and what waits under these identifiers.
    func remove(_ identifiers: [Bytes])
    /// Removes everything whose identifier is ours.
    func removeAll()
    /// Puts a number on the app's icon.
    func setBadge(_ count: Int64)
}

extension NotificationCentre {
    /// Performs an action that concerns the screen; false where it is another's to perform.
    public func perform(_ action: HushAction) -> Bool {
        switch action {
        case .show(let notification, let sound): show(notification, sound: sound)
        case .remove(let identifiers): remove(identifiers)
        case .removeAll: removeAll()
        case .badge(let count): setBadge(count)
        case .acknowledge, .hello, .report, .register, .unregister, .dropped: return false
        }
        return true
    }
}
