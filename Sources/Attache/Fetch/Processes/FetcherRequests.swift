/// What is asked of one fetcher, and which request is to blame when its processes end. A pure
/// value.
struct FetcherRequests {
  struct Request {
    let url: CheckedURL
    /// Where the memory that is shared says how far it is.
    let place: Int
    var deadline: MonotonicInstant
    var waiters: [FetchWaiter]
    /// How many prunes had begun when it was sent.
    var prunes: UInt64
    /// How often its file had gone when it was heard of.
    var losses = 0
    /// How many processes ended while they were at it.
    var deaths = 0
    /// How many processes ended while it was in flight.
    var ends = 0
  }

  /// Ends that name a request as the last work.
  static let maximumDeaths = 2
  /// Ends that a request may be in flight at: others may be the cause.
  static let maximumEnds = 64

  private var requests: [UInt64: Request] = [:]
  /// Those that others may join.
  private var byURL: [String: UInt64] = [:]

  var isEmpty: Bool { requests.isEmpty }
  var count: Int { requests.count }
  /// In the order in which they were asked, with their numbers.
  var inOrder: [(number: UInt64, request: Request)] { requests.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  var needsRoots: Bool { requests.values.contains { $0.url.scheme == .https } }

  subscript(number: UInt64) -> Request? {
    get { requests[number] }
    set { requests[number] = newValue }
  }

  /// The number of the request for a URL, if others may join it.
  func number(for url: String) -> UInt64? { byURL[url] }

  /// - Parameter joins: whether others may join it.
  mutating func add(_ request: Request, as number: UInt64, joins: Bool) {
    requests[number] = request
    if joins { byURL[request.url.text] = number }
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

  /// Takes down that a process has ended.
  ///
  /// - Parameter suspect: the number of the request that it was at, as far as that is known.
  /// - Returns: those that have ended too many processes; they are asked no more.
  mutating func noteEnd(suspect: UInt64?) -> [Request] {
    for number in requests.keys { requests[number]?.ends += 1 }
    if let suspect { requests[suspect]?.deaths += 1 }
    let guilty = requests.filter { $0.value.deaths >= Self.maximumDeaths || $0.value.ends >= Self.maximumEnds }
    return guilty.keys.compactMap { remove($0) }
  }
}
