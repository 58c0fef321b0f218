/// The result of one media reference, as in the report.
public struct MediaRecord: Hashable, Sendable {
  /// The source of the bytes.
  public enum Cache: String, CaseIterable, Sendable {
    /// They were fetched for this payload.
    case miss
    /// A fetch for another payload was running, and this payload joined it.
    case joined
    /// They were in the store.
    case hit
    /// They were in the store, and the origin confirmed that they are current.
    case revalidated
  }

  /// The durations of the parts of the last attempt, as libcurl and c-ares measure them; nil for a
  /// part that did not happen.
  public struct Timing: Hashable, Sendable {
    /// The wait for one of the limited number of connections, for all attempts together; nil for a
    /// fetch that never waited.
    public var wait: Duration?
    /// The name lookup.
    public var dns: Duration?
    /// The connection setup.
    public var connect: Duration?
    /// The TLS handshake, after the connection setup.
    public var tls: Duration?
    /// The time from the start of the exchange to the first byte of the response.
    public var firstByte: Duration?
    /// The duration of all attempts together.
    public var total: Duration?

    /// Makes timings; `wait` is nil.
    public init(dns: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil, total: Duration? = nil) {
      self.dns = dns
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
    }
  }

  /// The URL as written in the payload.
  public var url: UntrustedText
  /// The reason why it was not attached; nil when it was.
  public var reason: Reason?
  /// The HTTP status of the last response; nil if none arrived.
  public var status: Int?
  /// The number of bytes of the body that arrived.
  public var bytes: Int
  /// The source of the bytes.
  public var cache: Cache
  /// The type that the bytes show, once it is known.
  public var type: MediaType?
  /// The number of requests to the origin; 0 when the reference was refused or the bytes were in
  /// the store.
  public var attempts: Int
  /// How the attached file was made of the bytes; nil if it has these bytes, or if nothing was
  /// attached.
  public var converted: PictureConversion?
  /// The durations of the fetch.
  public var timing: Timing
  /// A description of the failure for the log; the report has only the reason.
  public var explanation: String?
  /// Whether this machine failed, not the origin or the file (``FetchFailure/isOfMachine``).
  public var isOfMachine = false
  /// How long to wait before asking again, when the circuit breaker refused the request
  /// (``FetchFailure/retryAfter``).
  public var retryAfter: Duration?

  /// Makes a record; `explanation` and `retryAfter` are nil, and `isOfMachine` is false.
  public init(
    url: UntrustedText, reason: Reason? = nil, status: Int? = nil, bytes: Int = 0, cache: Cache = .miss, type: MediaType? = nil,
    attempts: Int = 0,
    timing: Timing = Timing()
  ) {
    self.url = url
    self.reason = reason
    self.status = status
    self.bytes = bytes
    self.cache = cache
    self.type = type
    self.attempts = attempts
    self.timing = timing
  }
}

extension [MediaRecord] {
  /// Returns the status of the first response that has this reason; nil unless it is
  /// ``Reason/httpStatus``.
  package func status(for reason: Reason?) -> Int? {
    reason == .httpStatus ? first { $0.reason == reason }?.status : nil
  }

  /// Returns why the first medium is missing that an attached line does not get; nil if it gets all, or
  /// for another outcome, which has a reason of its own.
  package func missing(from outcome: Outcome) -> Reason? {
    outcome == .attached ? lazy.compactMap(\.reason).first : nil
  }
}
