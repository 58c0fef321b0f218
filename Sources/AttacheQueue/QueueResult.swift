public import Attache

/// A result on its way into a queue.
public struct FinishedPayload: Hashable, Sendable {
  public var token: LeaseToken
  /// The line with its media, with its ending; nil is the original, byte for byte.
  public var output: [UInt8]?
  public var outcome: Outcome
  public var reason: Reason?
  /// Whether it ended its workers, and is not tried again by itself.
  public var isDead: Bool
  /// What the report says: one JSON object with a line feed.
  public var record: [UInt8]
  /// The files that hold its attachments in the store until it is read, as absolute paths
  /// (``AttachmentStore/hold(_:for:)``).
  public var holds: [String]

  public init(
    _ token: LeaseToken, output: [UInt8]? = nil, outcome: Outcome, reason: Reason?, isDead: Bool = false, record: [UInt8],
    holds: [String] = []
  ) {
    self.token = token
    self.output = output
    self.outcome = outcome
    self.reason = reason
    self.isDead = isDead
    self.record = record
    self.holds = holds
  }
}

/// Which results are wanted.
public struct ResultRequest: Sendable {
  /// Those of payloads behind this number; 0 is from the first.
  public var after: Int64
  /// Results at most.
  public var limit: Int
  /// Bytes of lines and records at most, except that one result is always given.
  public var maximumBytes: Int
  /// Whether a payload that has no result yet ends the page: what stands behind it must not
  /// overtake it.
  public var stopsAtUndecided: Bool
  /// Whether those that were read before are left out.
  public var onlyUnread: Bool

  public init(after: Int64 = 0, limit: Int = 256, maximumBytes: Int = 8_000_000, stopsAtUndecided: Bool = false, onlyUnread: Bool = false) {
    self.after = after
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.stopsAtUndecided = stopsAtUndecided
    self.onlyUnread = onlyUnread
  }
}

/// Results, in the order enqueued.
public struct ResultPage: Sendable {
  /// One payload's result.
  public struct Entry: Hashable, Sendable {
    public var id: Int64
    /// What leaves for the payload, with its ending.
    public var line: [UInt8]
    /// One JSON object with a line feed.
    public var record: [UInt8]
    public var outcome: Outcome
    public var reason: Reason?

    public init(id: Int64, line: [UInt8], record: [UInt8], outcome: Outcome, reason: Reason?) {
      self.id = id
      self.line = line
      self.record = record
      self.outcome = outcome
      self.reason = reason
    }
  }

  public var entries: [Entry]
  /// What the next page is asked for with (``ResultRequest/after``).
  public var last: Int64
  /// Whether there is no result behind this page, or none that may be given before an undecided
  /// payload.
  public var isAtEnd: Bool

  public init(entries: [Entry], last: Int64, isAtEnd: Bool) {
    self.entries = entries
    self.last = last
    self.isAtEnd = isAtEnd
  }
}
