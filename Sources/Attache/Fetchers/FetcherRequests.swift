/// The requests to one fetcher, and the rules that decide which request is to blame when its
/// processes end. A pure value.
struct FetcherRequests {
  struct Request {
    let url: CheckedURL
    /// The operator's header lines for the origin of the URL.
    var fields: [String] = []
    /// Why the circuit breaker refuses to send it to the origin; nil when it may be sent.
    var refusal: FetchFailure?
    /// The place of its progress in shared memory.
    let place: Int
    var deadline: MonotonicInstant
    var waiters: [FetchWaiter]
    /// How many prunes had begun when the request was sent.
    var prunes: UInt64
    /// When the request was made.
    var begun = MonotonicInstant.distantPast
    /// How many times its file was gone when the reply arrived.
    var losses = 0
    /// How many processes ended while they were working on it.
    var deaths = 0
    /// How many processes ended while it was in flight.
    var ends = 0
  }

  /// A request fails when this many processes have ended while they were working on it.
  static let maximumDeaths = 2
  /// A request fails when this many processes have ended while it was in flight. The number is high
  /// because other requests may be the cause.
  static let maximumEnds = 64

  private var requests: [UInt64: Request] = [:]
  /// The requests that others may join.
  private var byURL: [String: UInt64] = [:]

  var isEmpty: Bool { requests.isEmpty }
  var count: Int { requests.count }
  /// The requests with their numbers, in the order in which they were made.
  var inOrder: [(number: UInt64, request: Request)] { requests.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  var needsRoots: Bool { requests.values.contains { $0.url.scheme == .https } }

  subscript(number: UInt64) -> Request? {
    get { requests[number] }
    set { requests[number] = newValue }
  }

  /// Returns the number of the request for a URL, if others may join it.
  func number(for url: String) -> UInt64? { byURL[url] }

  /// - Parameter joins: whether other requests may join it, unless it is refused.
  mutating func add(_ request: Request, as number: UInt64, joins: Bool) {
    requests[number] = request
    if joins, request.refusal == nil { byURL[request.url.text] = number }
  }

  @discardableResult
  mutating func remove(_ number: UInt64) -> Request? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if byURL[request.url.text] == number { byURL[request.url.text] = nil }
    return request
  }

  mutating func removeAll() -> [Request] {
    defer { (requests, byURL) = ([:], [:]) }
    return Array(requests.values)
  }

  /// Records the end of a process.
  ///
  /// - Parameter suspect: the number of the request that it was working on, if known.
  /// - Returns: the requests that have ended too many processes. They are removed.
  mutating func noteEnd(suspect: UInt64?) -> [Request] {
    for number in requests.keys { requests[number]?.ends += 1 }
    if let suspect { requests[suspect]?.deaths += 1 }
    let guilty = requests.filter { $0.value.deaths >= Self.maximumDeaths || $0.value.ends >= Self.maximumEnds }
    return guilty.keys.compactMap { remove($0) }
  }
}
