internal import Synchronization

/// The state of a ``FetcherLink``.
struct FetcherLinkState: ~Copyable {
  /// nil while there is no process.
  var stream: FrameStream?
  /// Whether a start is in progress or scheduled.
  var isStarting = false
  /// The number of processes that have been started.
  var generation = 0
  /// The number of the parent that started the last one.
  var parent = 0
  var requests = FetcherRequests()
  /// Cancelled requests that the process has not confirmed.
  var leaving: [UInt64: (request: FetcherRequests.Request, done: @Sendable () -> Void)] = [:]
  var pulses: [UInt64: @Sendable () -> Void] = [:]
  var closing: [@Sendable (String?) -> Void] = []
  /// Whether a flush is posted, and whether a flush with low priority is.
  var isFlushing = false
  var isFlushingLater = false
  /// The flushes to post when the lock is released.
  var flushes: Flushes = []
  /// Whether the loop of the process is running, and whether the process has returned a result.
  var isReady = false
  var hasAnswered = false
  /// When the process was started.
  var start = MonotonicInstant.distantPast
  /// The pause before the next start. It grows with processes that end early and without a result.
  var pause = GrowingPause(first: .milliseconds(16), longest: Self.longestPause, free: 3)
  /// The number of processes in a row that never became ready.
  var failedStarts = 0
  /// nil while nothing checks the process.
  var silence: FetcherSilence?
  var places = FetchPlaces()
  /// Why the last process could not start.
  var message = ""
  var isOver = false

  /// The longest pause before a process is started again. A process that lives at least this long
  /// has not ended early.
  static let longestPause = Duration.milliseconds(50)

  struct Flushes: OptionSet {
    let rawValue: UInt8

    static let soon = Flushes(rawValue: 1)
    /// To run when the loop is not behind with deadlines.
    static let later = Flushes(rawValue: 2)
  }

  /// Records a process that never became ready.
  ///
  /// - Returns: whether there were so many in a row that the requests must fail.
  mutating func noteFailedStart() -> Bool {
    failedStarts = (failedStarts + 1) % GrowingPause.maximumFailures
    return failedStarts == 0
  }

  /// Has the loop send what has been gathered.
  mutating func flushSoon() {
    if !isFlushing { flushes.insert(.soon) }
    isFlushing = true
  }

  mutating func flushLater() {
    if !isFlushingLater { flushes.insert(.later) }
    isFlushingLater = true
  }

  /// Gathers the frame of a request.
  mutating func send(_ request: FetcherRequests.Request, _ number: UInt64) {
    stream?.gather {
      FetcherFrame.append(
        .fetch(
          number, place: UInt32(request.place), payload: request.waiters.first?.payloads.first ?? 0, deadline: request.deadline,
          isRefused: request.refusal != nil, fields: request.fields, url: request.url.text), to: &$0)
    }
  }

  /// Removes all requests.
  ///
  /// - Returns: their waiters.
  mutating func removeAllRequests() -> [FetchWaiter] {
    let all = requests.removeAll()
    for request in all { places.give(back: request.place) }
    return all.flatMap(\.waiters)
  }
}

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

/// The places in the shared memory that no link has. Safe from any thread.
final class PlaceBlocks: Sendable {
  private let firstFree = Atomic<Int>(0)

  /// Returns places for a link, each of them once; empty when all places are taken.
  func next() -> Range<Int> {
    let first = min(FetcherMemory.places, firstFree.add(FetchPlaces.block, ordering: .relaxed).oldValue)
    return first..<min(FetcherMemory.places, first + FetchPlaces.block)
  }
}

/// The free places of a link in the shared memory. Returned places are reused before new ones, so
/// that few pages are used. A link never gives a place to another link: the limit applies to the sum
/// of the links' own peaks.
struct FetchPlaces {
  /// The number of places that a link gets at a time.
  static let block = 64

  private var free: [Int] = []

  /// - Parameter more: gets more places. They stay with this link.
  /// - Returns: ``FetcherMemory/places`` when all places are taken.
  mutating func take(more: () -> Range<Int>) -> Int {
    if free.isEmpty { free = more().reversed() }
    return free.popLast() ?? FetcherMemory.places
  }

  mutating func give(back place: Int) {
    if place < FetcherMemory.places { free.append(place) }
  }
}
