/// A payload to add to a queue.
public struct NewPayload: Hashable, Sendable {
  /// The line as it was read, with its line ending.
  public var line: [UInt8]
  /// The priority, as in `apns-priority`: 10 is immediate, 5 is when convenient, 1 is last. A queue
  /// leases higher values first.
  public var priority = NewPayload.usualPriority
  /// The time before which no worker processes the payload, since 1970.
  public var notBefore: Duration?
  /// The time, since 1970, from which on the payload gets its original at once instead of being
  /// processed.
  public var expiresAt: Duration?
  /// The deduplication key, in any bytes. A queue does not add a payload whose key it has seen. A
  /// nil key equals no other key.
  public var key: [UInt8]?
  /// What people search the payload by, in the form of the key. Several payloads may have the same.
  public var searchKey: [UInt8]?
  /// The name of the file that the payload comes from, made printable; nil for a line.
  public var name: String?

  /// The priority that APNs uses when none is given.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
  public static let usualPriority = 10
  /// The longest line that a queue accepts: 64 MiB, in bytes. A line is held in memory as a whole.
  public static let maximumLine = 64 << 20

  /// Creates a payload with the usual priority and no key, start time or expiry.
  public init(line: [UInt8]) {
    self.line = line
  }
}
