import Foundation

/// The centre for notifications between processes. Here, they stay in this process.
public final class CFNotificationCenter: @unchecked Sendable {
  fileprivate static let darwin = CFNotificationCenter()
  fileprivate let center = NotificationCenter()
}

public struct CFNotificationName: RawRepresentable, Hashable, Sendable {
  public var rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public init(_ name: CFString) {
    rawValue = name as String
  }
}

/// The function that receives a notification.
public typealias CFNotificationCallback = (
  CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?, CFDictionary?
) -> Void

public enum CFNotificationSuspensionBehavior: Int {
  case drop = 1
  case coalesce = 2
  case hold = 3
  case deliverImmediately = 4
}

public func CFNotificationCenterGetDarwinNotifyCenter() -> CFNotificationCenter! {
  .darwin
}

public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter!, _ name: CFNotificationName, _ object: UnsafeRawPointer!, _ userInfo: CFDictionary!,
  _ deliverImmediately: Bool
) {
  center.center.post(name: Notification.Name(name.rawValue), object: nil)
}

public func CFNotificationCenterAddObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!, _ callback: CFNotificationCallback!, _ name: CFString!,
  _ object: UnsafeRawPointer!, _ suspension: CFNotificationSuspensionBehavior
) {
  let context = observer.map { UInt(bitPattern: $0) }
  nonisolated(unsafe) let callback = callback
  _ = center.center.addObserver(forName: Notification.Name(name as String), object: nil, queue: nil) { notification in
    callback?(
      .darwin, context.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }, CFNotificationName(rawValue: notification.name.rawValue), nil,
      nil)
  }
}
