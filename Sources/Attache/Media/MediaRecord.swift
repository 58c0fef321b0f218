/// What became of one media reference, as the report tells it.
public struct MediaRecord: Hashable, Sendable {
  /// Where the bytes came from.
  public enum Cache: String, CaseIterable, Sendable {
    /// They were fetched for this payload.
    case miss
    /// A fetch for another payload was under way, and this one joined it.
    case joined
    /// They were in the store.
    case hit
    /// They were in the store, and the origin said that they are still its answer.
    case revalidated
  }

  /// How long each part of the last attempt took, as libcurl and c-ares measure it; nil for a part
  /// that did not come about.
  public struct Timing: Hashable, Sendable {
    /// Waiting for one of the connections that may be open at a time, all attempts together; nil
    /// for a fetch that never waited.
    public var wait: Duration?
    public var dns: Duration?
    public var connect: Duration?
    public var tls: Duration?
    public var firstByte: Duration?
    /// All attempts together.
    public var total: Duration?

    public init(dns: Duration? = nil, connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil, total: Duration? = nil) {
      self.dns = dns
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
    }
  }

  /// The URL as the payload writes it.
  public var url: UntrustedText
  /// Why it was not attached; nil when it was.
  public var reason: Reason?
  /// The HTTP status of the last response, if one came.
  public var status: Int?
  /// The bytes of the body that arrived.
  public var bytes: Int
  public var cache: Cache
  /// The type that the bytes say, once it is known.
  public var type: MediaType?
  /// How often the origin was asked; 0 when the reference was refused or the bytes were in the
  /// store.
  public var attempts: Int
  public var timing: Timing
  /// What went wrong, in words, for the log; the report has the reason alone.
  public var explanation: String?
  /// Whether this machine failed, and not the origin or the file (``FetchFailure/isOfMachine``).
  public var isOfMachine = false

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
