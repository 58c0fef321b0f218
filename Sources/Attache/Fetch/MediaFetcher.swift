internal import Synchronization

/// Downloads media into the store: gates, names, connections, redirects, retries, detection, all on the caller's deadline.
///
/// One loop thread carries every transfer; detection, hashing and files happen on threads of their own. A fetcher that is let go of is shut down.
public final class MediaFetcher: Sendable {
  /// What may be fetched, and how.
  public struct Configuration: Sendable {
    /// Which URLs and addresses may be reached.
    public var policy = URLPolicy()
    /// The largest file of each kind, in bytes.
    public var limits = MediaLimits()
    /// Further tries of a transient failure, only inside the budget.
    public var retries = 2
    /// Transfers to one origin at a time.
    public var transfersPerOrigin = 16
    public var cache = CacheMode.http
    /// A file of root certificates in PEM form instead of the system's.
    public var rootCertificates: String?
    /// How many fetchers this process has, this one included: they share the limit on open files.
    public var engines = 1
    /// Name servers as `ADDRESS:PORT`; none means those of resolv.conf.
    public var nameServers: [String] = []

    public init() {}
  }

  /// What is remembered of media that was fetched.
  public enum CacheMode: String, CaseIterable, Sendable {
    /// The rules of HTTP (RFC 9111), over restarts: what is fresh is not fetched, what is stale is asked about. Requests for a URL in flight join it.
    case http
    /// Requests for a URL in flight join it, and what this process has fetched is not fetched again.
    case session
    /// Each reference is fetched by itself.
    case off
  }

  private let gate: URLGate
  private let engine: FetchEngine
  /// The latest URL that passed the gate: a campaign names the same one again and again.
  private let latest = Mutex<(text: UntrustedText, checked: CheckedURL)?>(nil)
  private let isShutDown = Atomic<Bool>(false)

  /// Starts the fetcher's threads.
  ///
  /// - Parameter clock: what the deadlines of the fetches are kept by. While it is behind with them, it goes before what can wait.
  /// - Throws: ``StartError`` when the system or a library refuses, a wrong file of roots or name server included.
  public convenience init(_ configuration: Configuration, store: AttachmentStore, clock: (any DeadlineClock)? = nil) throws(StartError) {
    try self.init(configuration, store: store, clock: clock, network: .real(configuration))
  }

  /// Starts the fetcher with another patience of its session cache.
  ///
  /// - Parameter trust: how long a file is taken to be in the store without a look.
  convenience init(_ configuration: Configuration, store: AttachmentStore, trust: Duration) throws(StartError) {
    try self.init(configuration, store: store, trust: trust, network: .real(configuration))
  }

  /// Starts the fetcher on a machine and a network of the caller's: rehearsals script them.
  package init(
    _ configuration: Configuration, store: AttachmentStore, trust: Duration = SessionCache.trust, clock: (any DeadlineClock)? = nil,
    network: FetchNetwork
  ) throws(StartError) {
    gate = URLGate(configuration.policy)
    engine = try FetchEngine(configuration, gate: gate, store: store, trust: trust, clock: clock, network: network)
  }

  /// Ends all transfers without an answer, and the threads, when the HTTP cache has been written.
  ///
  /// - Returns: what the user should know of the cache, such as that it was damaged and is begun anew.
  @discardableResult
  public func shutdown() -> String? {
    let warning = isShutDown.exchange(true, ordering: .relaxed) ? nil : engine.closeCache()
    engine.shutdown()
    return warning
  }

  deinit {
    engine.shutdown()
  }

  /// Fetches what `url` names.
  ///
  /// - Parameters:
  ///   - url: as the payload writes it; both gates are asked here and at every redirect.
  ///   - deadline: the end of the budget. No further try is made after it; the caller ends the fetch itself, with ``FetchTicket/cancel()``.
  ///   - completion: called at most once, on any thread, with the stored file, which is pinned once for the caller, or with a reason;
  ///     and with the report's record.
  /// - Returns: what ends the fetch early and shows how far it is.
  public func fetch(
    _ url: String, deadline: MonotonicInstant, completion: @escaping @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void
  ) -> FetchTicket {
    let url = UntrustedText(url)
    let waiter = FetchWaiter(url: url, deadline: deadline, machine: engine.loop.machine, completion: completion)
    do throws(Refusal) {
      let checked = try check(url)
      if !engine.answerAtOnce(checked, for: waiter) { engine.loop.post { [engine] in engine.begin(checked, for: waiter) } }
    } catch {
      waiter.complete(.failure(FetchFailure(error)))
    }
    return FetchTicket(waiter: waiter, engine: engine)
  }

  /// Asks the loop how the origins stand: an answer also says that the loop turns.
  ///
  /// - Parameter answer: called once on the loop's thread, never after ``shutdown()``; must not block.
  public func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    engine.loop.post { [engine] in answer(engine.breaker.states(at: engine.loop.now)) }
  }

  private func check(_ url: UntrustedText) throws(Refusal) -> CheckedURL {
    // Before two long texts are compared.
    guard url.utf8.count <= URLGate.maximumBytes else { throw URLGate.tooLong }
    if let latest = latest.withLock({ $0 }), latest.text == url { return latest.checked }
    let checked = try gate.check(url.string)
    latest.withLock { $0 = (url, checked) }
    return checked
  }
}

/// Why an engine could not be started, in words for its user.
public struct StartError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String

  public init(_ description: String) {
    self.description = description
  }
}

/// A fetch under way, seen by the one who asked for it.
public struct FetchTicket: Sendable {
  let waiter: FetchWaiter
  let engine: FetchEngine

  /// How far the fetch is.
  public var record: MediaRecord {
    waiter.record(ending: nil)
  }

  /// Ends the fetch for this caller: its completion is not called any more. A download that nobody else waits for is broken off.
  public func cancel() {
    guard waiter.close() else { return }
    engine.loop.post { [engine, waiter] in engine.leave(waiter) }
  }
}
