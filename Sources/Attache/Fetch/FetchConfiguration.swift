/// What may be fetched, and how.
public struct FetchConfiguration: Sendable {
  /// The URLs and addresses that may be reached.
  public var policy = URLPolicy()
  /// The largest file of each kind, in bytes.
  public var limits = MediaLimits()
  /// The text of the field `User-Agent`.
  public var userAgent = RequestField.defaultUserAgent
  /// The operator's header fields. Only the process that reads the lines has them: the others were
  /// forked without.
  package var fields = OriginFields()
  /// The maximum number of retries after a transient failure. Retries happen only within the
  /// budget.
  public var retries = 2
  /// The maximum number of concurrent transfers to one origin.
  public var transfersPerOrigin = 16 {
    didSet { transfersPerOrigin = max(1, transfersPerOrigin) }
  }
  /// What is done with a file between its last byte and its attachment.
  public var steps: [MediaStep] = []
  /// What is cached.
  public var cache = CacheMode.http
  /// The path of a file of root certificates in PEM format that replaces the system's.
  public var rootCertificates: String?
  /// The number of engines; nil means one for each processor. At most
  /// ``maximumFetchers``, and at most ``transfersPerOrigin``.
  public var fetchers: Int?
  /// Name servers as `ADDRESS:PORT`; an empty list means those of resolv.conf.
  public var nameServers: [String] = []

  /// Creates the default configuration.
  public init() {}

  /// Returns the number of engines on a machine: at most ``transfersPerOrigin``, so that each
  /// engine has a place at every origin that a redirect leads to.
  func fetcherCount(on machine: any Machine) -> Int {
    max(1, min(Self.maximumFetchers, transfersPerOrigin, fetchers ?? machine.processors))
  }

  /// What is cached of fetched media.
  public enum CacheMode: String, CaseIterable, Sendable {
    /// Follows the rules of HTTP (RFC 9111), across restarts: fresh responses are reused and stale
    /// ones are revalidated. Requests for a URL in flight join it.
    case http
    /// Requests for a URL in flight join it. What this process has fetched is not fetched again.
    case session
    /// Each reference is fetched separately.
    case off
  }

  /// The maximum number of engines.
  public static let maximumFetchers = 64
}
