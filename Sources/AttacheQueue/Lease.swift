internal import Attache

/// What a worker holds a payload by: its number, and one that no other lease of this payload has
/// had.
public struct LeaseToken: Hashable, Sendable {
  /// The payload's number in the queue: 1 for the first, larger for each later one.
  public var id: Int64
  /// Larger than that of every earlier lease of the payload: a result with another one is refused.
  public var fence: Int64

  public init(id: Int64, fence: Int64) {
    self.id = id
    self.fence = fence
  }
}

/// A payload that is leased to a worker.
public struct Lease: Hashable, Sendable {
  public var token: LeaseToken
  /// As it was enqueued; nil when it is longer than ``maximumLine`` and nobody looks into it.
  public var line: [UInt8]?
  /// Which try it is, from 1: one more than the tries that were given back as made.
  public var attempt: Int
  /// The sender's, since 1970.
  public var expiresAt: Duration?
  /// How many workers died while they held it.
  public var deaths: Int
  /// How many of them held nothing else.
  public var deathsAlone: Int

  /// The longest line that is handed out, in bytes: what the engine reads (1 MiB) and a line
  /// ending.
  public static let maximumLine = PayloadReader.maximumLineLength + 2
  /// The deaths that make a payload a suspect, which is leased alone.
  public static let deathsOfSuspect = 2

  public init(token: LeaseToken, line: [UInt8]?, attempt: Int, expiresAt: Duration?, deaths: Int, deathsAlone: Int) {
    self.token = token
    self.line = line
    self.attempt = attempt
    self.expiresAt = expiresAt
    self.deaths = deaths
    self.deathsAlone = deathsAlone
  }
}

/// What a worker asks for.
public struct ClaimRequest: Sendable {
  /// Payloads at most.
  public var limit: Int
  /// Bytes of lines at most, except that one payload is always given.
  public var maximumBytes: Int
  /// How long the leases last.
  public var span: Duration
  /// Whether a suspect is wanted, one only, by a worker that holds nothing else; otherwise none is
  /// given.
  public var isAlone: Bool

  public init(limit: Int, maximumBytes: Int = 8_000_000, span: Duration, isAlone: Bool = false) {
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.span = span
    self.isAlone = isAlone
  }
}

/// What a worker gets.
public struct Claim: Sendable {
  /// In the order to work them; their holder is the worker that asked.
  public var leases: [Lease]
  /// Whether a suspect waits for somebody who takes it alone.
  public var hasSuspects: Bool
  /// How long until there may be something to claim: of what is not due yet, or leased elsewhere.
  /// Zero when there is more than was asked for or a suspect waits, nil when every payload has a
  /// result.
  public var next: Duration?

  public init(leases: [Lease], hasSuspects: Bool, next: Duration?) {
    self.leases = leases
    self.hasSuspects = hasSuspects
    self.next = next
  }
}

/// A payload that is given back.
public struct ReturnedPayload: Hashable, Sendable {
  public var token: LeaseToken
  /// How long it is not to be claimed; it is never longer than until the payload expires.
  public var delay: Duration
  /// Whether a try was made of it that counts.
  public var wasTried: Bool
  /// Why the try came to nothing, in one line, for the payload's history.
  public var text: String?

  public init(_ token: LeaseToken, after delay: Duration = .zero, wasTried: Bool, text: String? = nil) {
    self.token = token
    self.delay = delay
    self.wasTried = wasTried
    self.text = text
  }
}
