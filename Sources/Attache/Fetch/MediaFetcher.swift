internal import Synchronization

/// Downloads media into the store: URL checks, name resolution, connections, redirects, retries and
/// type detection, all within the caller's deadline.
///
/// There is one engine for each processor. An engine is a loop on its own thread: it runs
/// transfers, and detects, hashes and writes the received bytes. Releasing a fetcher shuts it down.
public final class MediaFetcher: Sendable {
  /// What may be fetched, and how.
  public struct Configuration: Sendable {
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
    /// ``MediaFetcher/maximumFetchers``, and at most ``transfersPerOrigin``.
    public var fetchers: Int?
    /// Name servers as `ADDRESS:PORT`; an empty list means those of resolv.conf.
    public var nameServers: [String] = []

    /// Creates the default configuration.
    public init() {}

    /// Returns the number of engines on a machine: at most ``transfersPerOrigin``, so that each
    /// engine has a place at every origin that a redirect leads to.
    func fetcherCount(on machine: any Machine) -> Int {
      max(1, min(maximumFetchers, transfersPerOrigin, fetchers ?? machine.processors))
    }
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

  let memory: FetchMemory
  /// The fetchers: ``engines`` or processes.
  private let services: [any FetchService]
  /// The loops on threads of this process; empty when processes fetch.
  let engines: [FetchEngine]
  private let processes: FetcherProcesses?
  private let lastPayload = Atomic<UInt64>(0)
  private let isShutDown = Atomic<Bool>(false)

  /// Starts the fetcher's threads.
  ///
  /// - Parameters:
  ///   - configuration: what may be fetched, and how.
  ///   - store: where the files are stored.
  ///   - clock: the clock of the fetches' deadlines. While it is behind with deadlines, they have
  ///     priority over work that can wait.
  /// - Throws: ``StartError`` when the system or a library fails, or when a file of root
  ///   certificates or a name server is invalid.
  public convenience init(_ configuration: Configuration, store: AttachmentStore, clock: MonotonicClock? = nil) throws(StartError) {
    try self.init(configuration, store: store, clock: clock, network: .real(configuration))
  }

  /// Starts the fetcher with a different trust time for its session cache.
  ///
  /// - Parameter trust: how long a file is assumed to be in the store without a check.
  convenience init(_ configuration: Configuration, store: AttachmentStore, trust: Duration) throws(StartError) {
    try self.init(configuration, store: store, trust: trust, network: .real(configuration))
  }

  /// Starts the fetcher on a machine and a network of the caller, which may simulate them.
  package init(
    _ configuration: Configuration, store: AttachmentStore, trust: Duration = SessionCache.trust, clock: MonotonicClock? = nil,
    network: FetchNetwork
  ) throws(StartError) {
    let count = configuration.fetcherCount(on: network.machine)
    let memory = FetchMemory(configuration, store: store, trust: trust, engines: count, machine: network.machine)
    let files = try FetchFiles(configuration)
    var engines: [FetchEngine] = []
    do throws(StartError) {
      for number in 0..<count {
        engines.append(try FetchEngine(memory, files: files, number: number, of: count, clock: clock, network: network))
      }
    } catch {
      for engine in engines { engine.shutdown() }
      throw error
    }
    (self.memory, self.engines, services, processes) = (memory, engines, engines, nil)
  }

  /// Starts a fetcher that uses separate processes. Each process is started when it is first
  /// needed.
  ///
  /// - Parameters:
  ///   - parent: the process that starts the fetcher processes. It was created with this
  ///     configuration, before there were threads.
  ///   - notify: called with messages for the user, such as that a process ended and was replaced;
  ///     on a thread of its own.
  /// - Throws: ``StartError`` when the system fails or the file of root certificates is invalid.
  package init(
    _ configuration: Configuration, store: AttachmentStore, clock: MonotonicClock? = nil, parent: FetcherParent,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    try RootCertificates.check(configuration.rootCertificates)
    // Each fetcher process has its own connection to the index, and does not see at once what
    // another has written.
    let machine = SystemMachine()
    let count = configuration.fetcherCount(on: machine)
    memory = FetchMemory(configuration, store: store, engines: count, hasIndex: false, machine: machine)
    let processes = try FetcherProcesses(memory, count: count, parent: parent, clock: clock, notify: notify)
    (engines, services, self.processes) = ([], processes.links, processes)
  }

  /// Whether no fetcher process can be started any more. Then all requests fail with
  /// ``Reason/internal``.
  package var isBroken: Bool { processes?.isBroken ?? false }

  /// Writes the HTTP cache. Then ends all transfers without calling completions, and ends the
  /// threads and processes.
  ///
  /// - Returns: a warning for the user about the cache, such as that it was damaged and replaced.
  @discardableResult
  public func shutdown() -> String? {
    let warning = isShutDown.exchange(true, ordering: .relaxed) ? nil : closeCache()
    endServices()
    return warning
  }

  deinit {
    endServices()
  }

  private func endServices() {
    for service in services { service.shutdown() }
    processes?.shutdown()
  }

  /// Writes the pending rows of the HTTP cache, and waits at most ``HTTPCache/closingTimeLimit``,
  /// the time that a working disk could need.
  ///
  /// - Returns: a warning for the user about the cache.
  private func closeCache() -> String? {
    guard memory.configuration.cache == .http, let wakeSignal = try? memory.machine.makeWakeSignal() else { return nil }
    let end = memory.machine.now.advanced(by: HTTPCache.closingTimeLimit)
    let warnings = Mailbox<[String?]>([]) { wakeSignal.ring() }
    for service in services {
      service.closeCache { warning in warnings.change { $0.append(warning) } }
    }
    while warnings.take({ ($0.count < services.count, sleeps: true) }), memory.machine.now < end { wakeSignal.wait(until: end) }
    return warnings.read { $0.lazy.compactMap(\.self).first }
  }

  /// Fetches a URL.
  ///
  /// - Parameters:
  ///   - url: the URL as the payload contains it. Both gates check it here and at every redirect.
  ///   - deadline: the end of the budget. No retry begins after it. The caller must end the fetch
  ///     itself, with ``FetchTicket/cancel()``.
  ///   - completion: called at most once, on any thread, with the result and the record for the
  ///     report. On success, the stored file is pinned once for the caller.
  /// - Returns: a ticket that cancels the fetch and shows its progress.
  public func fetch(
    _ url: String, deadline: MonotonicInstant, completion: @escaping @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void
  ) -> FetchTicket {
    fetch(url, for: nextNumber(), deadline: deadline, completion: completion)
  }

  /// Fetches a URL for a payload. Payloads take turns where work is slow.
  ///
  /// - Parameter payload: a number of ``beginPayload()``.
  func fetch(
    _ url: String, for payload: UInt64, deadline: MonotonicInstant,
    completion: @escaping @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void
  ) -> FetchTicket {
    let url = UntrustedText(url)
    var listener: FetchWaiter.ConversionListener?
    if let load = memory.conversions { listener = { turn in load.note(turn, of: payload) } }
    let waiter = FetchWaiter(
      url: url, payload: payload, deadline: deadline, machine: memory.machine, conversions: listener, completion: completion)
    do throws(Refusal) {
      let checked = try memory.check(url)
      if memory.answerAtOnce(checked, for: waiter) { return FetchTicket(waiter: waiter) }
      let refusal = memory.refusal(of: checked)
      if let refusal, !memory.mayHave(checked) { waiter.complete(.failure(refusal)) } else { begin(checked, for: waiter, refusal) }
    } catch {
      waiter.complete(.failure(FetchFailure(error)))
    }
    return FetchTicket(waiter: waiter)
  }

  /// Returns the number of a payload that begins. Call ``end(_:)`` when it is decided.
  func beginPayload() -> UInt64 {
    let number = nextNumber()
    memory.conversions?.begin(number)
    return number
  }

  private func nextNumber() -> UInt64 {
    lastPayload.add(1, ordering: .relaxed).newValue
  }

  /// Records that a payload is decided.
  func end(_ payload: UInt64) {
    memory.conversions?.end(payload)
  }

  /// Returns the number of payloads whose conversions can be finished in this time; nil if nothing is
  /// converted.
  func places(within deadline: Duration) -> Int? {
    memory.conversions?.places(within: deadline)
  }

  /// Sets the function to call when ``places(within:)`` may have risen although no payload was decided.
  /// It must not block.
  func whenPlacesRise(_ action: @escaping @Sendable () -> Void) {
    memory.conversions?.whenPlacesRise(action)
  }

  private func begin(_ url: CheckedURL, for waiter: FetchWaiter, _ refusal: FetchFailure?) {
    let number = memory.enter(url)
    waiter.go(to: services[number], host: url.host) { [memory] in memory.leave(url, number) }
    services[number].fetch(url, fields: memory.configuration.fields[url.origin], for: waiter, refusal: refusal)
  }

  /// Asks each fetcher for a reply, which shows that its loop is running.
  ///
  /// - Parameter answer: called once, on a thread of the fetchers, with the number of origins in
  ///   each state of the circuit breaker. Never called after ``shutdown()``. Must not block.
  public func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    Self.pulse(services[...]) { [memory] in answer(memory.breakerStates) }
  }

  /// Asks one fetcher after the other.
  private static func pulse(_ services: ArraySlice<any FetchService>, _ answer: @escaping @Sendable () -> Void) {
    guard let next = services.first else { return answer() }
    next.pulse { pulse(services.dropFirst(), answer) }
  }
}

/// The caller's handle of a running fetch.
public struct FetchTicket: Sendable {
  let waiter: FetchWaiter

  /// The current record of the fetch.
  public var record: MediaRecord {
    waiter.record(ending: nil)
  }

  /// What the fetch waits for, or last waited for, in words; nil if it never waited.
  var awaited: String? { waiter.awaited }

  /// Whether the complete picture is being converted.
  var isConverting: Bool { waiter.isConverting }

  /// Ends the fetch for this caller: its completion is not called any more. A download without
  /// other waiters is cancelled.
  public func cancel() {
    guard let (fetcher, onLeave) = waiter.close() else { return }
    fetcher.leave(waiter, done: onLeave)
  }
}
