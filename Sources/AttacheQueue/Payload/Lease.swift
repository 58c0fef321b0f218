internal import Attache

/// Identifies one lease of a payload: the payload's number, and a fencing token that is unique
/// among the leases of this payload.
public struct LeaseToken: Hashable, Sendable {
  /// The payload's number in the queue: 1 for the first, larger for each later payload.
  public var id: Int64
  /// The fencing token, larger than that of every earlier lease of the payload. The queue refuses a
  /// result with another one.
  public var fence: Int64

  /// Creates a token of a payload's number and a fencing token.
  public init(id: Int64, fence: Int64) {
    self.id = id
    self.fence = fence
  }
}

/// A payload that is leased to a worker.
public struct Lease: Hashable, Sendable {
  /// Identifies this lease.
  public var token: LeaseToken
  /// The line as it was enqueued; nil when it is longer than ``maximumLine``, which no worker
  /// parses.
  public var line: [UInt8]?
  /// The number of this attempt, from 1: one more than the attempts that were given back as tried.
  public var attempt: Int
  /// The expiry that the sender of the payload chose, since 1970; nil when there is none.
  public var expiresAt: Duration?
  /// The number of workers that died while they held the payload.
  public var deaths: Int
  /// The number of those workers that held no other payload.
  public var deathsAlone: Int

  /// The longest line that a lease contains, in bytes: what the engine reads (1 MiB) and a line
  /// ending.
  public static let maximumLine = PayloadReader.maximumLineLength + 2
  /// The number of deaths after which a payload is a suspect. A suspect is leased alone.
  public static let deathsOfSuspect = 2

  /// Creates a lease from all of its properties.
  public init(token: LeaseToken, line: [UInt8]?, attempt: Int, expiresAt: Duration?, deaths: Int, deathsAlone: Int) {
    self.token = token
    self.line = line
    self.attempt = attempt
    self.expiresAt = expiresAt
    self.deaths = deaths
    self.deathsAlone = deathsAlone
  }
}

/// What a worker asks a queue for.
public struct ClaimRequest: Sendable {
  /// The maximum number of payloads.
  public var limit: Int
  /// The maximum total length of the lines, in bytes. The first payload is returned whatever its
  /// length.
  public var maximumBytes: Int
  /// The duration of the leases.
  public var span: Duration
  /// Whether to lease one suspect, for a worker that holds nothing else. Otherwise no suspects are
  /// leased.
  public var isAlone: Bool

  /// Creates a request. By default the limit of bytes is 8 MB and suspects are excluded.
  public init(limit: Int, maximumBytes: Int = 8_000_000, span: Duration, isAlone: Bool = false) {
    self.limit = limit
    self.maximumBytes = maximumBytes
    self.span = span
    self.isAlone = isAlone
  }
}

/// What a queue returns to a worker's request.
public struct Claim: Sendable {
  /// The leases of the requesting worker, in the order to process them.
  public var leases: [Lease]
  /// Whether a suspect is ready for a worker that leases it alone.
  public var hasSuspects: Bool
  /// How long until a payload may become claimable, because it is due or another worker's lease
  /// ends. Zero when more payloads are ready than were requested, or a suspect is ready. Nil when
  /// every payload has a result.
  public var next: Duration?
  /// The operator's pause of the processing. No payloads are leased then.
  public var pause: QueuePause?

  /// Creates a claim from all of its properties.
  public init(leases: [Lease], hasSuspects: Bool, next: Duration?) {
    self.leases = leases
    self.hasSuspects = hasSuspects
    self.next = next
  }
}

/// A payload that a worker gives back.
public struct ReturnedPayload: Hashable, Sendable {
  /// The lease that ends.
  public var token: LeaseToken
  /// How long the payload cannot be claimed. The delay ends at the latest when the payload expires.
  public var delay: Duration
  /// Whether the attempt counts.
  public var wasTried: Bool
  /// Why the attempt failed, in one line, for the payload's history.
  public var text: String?

  /// Creates a payload to give back, by default without a delay.
  public init(_ token: LeaseToken, after delay: Duration = .zero, wasTried: Bool, text: String? = nil) {
    self.token = token
    self.delay = delay
    self.wasTried = wasTried
    self.text = text
  }
}
