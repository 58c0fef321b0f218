public import Attache

/// A result to store in a queue.
public struct FinishedPayload: Hashable, Sendable {
  /// The lease of the payload.
  public var token: LeaseToken
  /// The line with its media and its line ending; nil means the original, byte for byte.
  public var output: [UInt8]?
  /// What became of the payload.
  public var outcome: Outcome
  /// Why the payload has this outcome; nil when there is no reason.
  public var reason: Reason?
  /// Whether workers died while they processed the payload. A dead payload is not tried again
  /// automatically.
  public var isDead: Bool
  /// The report's record: one JSON object with a line feed.
  public var record: [UInt8]
  /// The files that hold the payload's attachments in the store until the result is read, as
  /// absolute paths (``AttachmentStore/hold(_:for:)``). A queue on a server ignores them.
  public var holds: [String]

  /// Creates a result. By default its output is the original, and it has no holds.
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

extension FinishedPayload {
  /// Returns the report's record of a payload that was cancelled before it was processed.
  package static func cancelledRecord(_ id: Int64) -> [UInt8] {
    Decision(.fallback, .queueCancelled).record(line: Int(id), elapsed: .zero, lateness: .zero, FilterConfiguration())
  }
}

/// Which results to return.
public struct ResultRequest: Sendable {
  /// Only results of payloads with a greater number; 0 starts at the first.
  public var after: Int64
  /// The maximum number of results.
  public var limit: Int
  /// The maximum total length of the lines and records, in bytes. The first result is returned
  /// whatever its length.
  public var maximumBytes: Int
  /// Whether a payload without a result ends the page, so that later results do not overtake it.
  public var stopsAtUndecided: Bool
  /// Whether to skip results that were read before.
  public var onlyUnread: Bool

  /// Creates a request. By default it asks for 256 results and 8 MB from the first payload.
  public init(after: Int64 = 0, limit: Int = 256, maximumBytes: Int = 8_000_000, stopsAtUndecided: Bool = false, onlyUnread: Bool = false) {
    self.after = after
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.stopsAtUndecided = stopsAtUndecided
    self.onlyUnread = onlyUnread
  }
}

/// A page of results, in the order enqueued.
public struct ResultPage: Sendable {
  /// The result of one payload.
  public struct Entry: Hashable, Sendable {
    /// The payload's number in the queue.
    public var id: Int64
    /// The output line, with its line ending.
    public var line: [UInt8]
    /// The report's record: one JSON object with a line feed.
    public var record: [UInt8]
    /// What became of the payload.
    public var outcome: Outcome
    /// Why the payload has this outcome; nil when there is no reason.
    public var reason: Reason?

    /// Creates an entry from all of its properties.
    public init(id: Int64, line: [UInt8], record: [UInt8], outcome: Outcome, reason: Reason?) {
      self.id = id
      self.line = line
      self.record = record
      self.outcome = outcome
      self.reason = reason
    }
  }

  /// The results of this page.
  public var entries: [Entry]
  /// The value of ``ResultRequest/after`` for the next page.
  public var last: Int64
  /// Whether no result follows this page, or none that may be returned before an undecided payload.
  public var isAtEnd: Bool

  /// Creates a page from all of its properties.
  public init(entries: [Entry], last: Int64, isAtEnd: Bool) {
    self.entries = entries
    self.last = last
    self.isAtEnd = isAtEnd
  }
}
