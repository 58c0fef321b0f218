/// A payload on its way into a queue.
public struct NewPayload: Hashable, Sendable {
  /// As it was read, with its ending.
  public var line: [UInt8]
  /// As `apns-priority`: 10 is at once, 5 when it suits, 1 last; higher ones are claimed first.
  public var priority = NewPayload.usualPriority
  /// The moment before which it is not worked, since 1970.
  public var notBefore: Duration?
  /// The moment, since 1970, at which it gets its original at once instead of being worked.
  public var expiresAt: Duration?
  /// What tells it from others: a payload whose key the queue has seen is not added again. Any
  /// bytes; nil is never the same as another.
  public var key: [UInt8]?

  /// What APNs takes where no priority is given.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
  public static let usualPriority = 10
  /// The longest line that a queue takes, in bytes: 64 MiB. It is held in memory whole.
  public static let maximumLine = 64 << 20

  public init(line: [UInt8]) {
    self.line = line
  }
}
