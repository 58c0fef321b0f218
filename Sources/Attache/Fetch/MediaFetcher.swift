internal import Synchronization

/// Downloads media into the store: gates, names, connections, redirects, retries, detection, all on
/// the caller's deadline.
///
/// There is an engine for each core, a loop on a thread of its own: it carries transfers, and
/// recognises, hashes and writes what they bring. A fetcher that is let go of is shut down.
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
    /// How many engines there are; nil is one for each processor. There are
    /// ``MediaFetcher/maximumFetchers`` at most, and no more than ``transfersPerOrigin``.
    public var fetchers: Int?
    /// Name servers as `ADDRESS:PORT`; none means those of resolv.conf.
    public var nameServers: [String] = []

    public init() {}

    /// How many engines there are on a machine: no more than ``transfersPerOrigin``, so that each
    /// has a place at every origin that a redirect leads to.
    func fetcherCount(on machine: any Machine) -> Int {
      max(1, min(maximumFetchers, transfersPerOrigin, fetchers ?? machine.processors))
    }
  }

  /// What is remembered of media that was fetched.
  public enum CacheMode: String, CaseIterable, Sendable {
    /// The rules of HTTP (RFC 9111), over restarts: what is fresh is not fetched, what is stale is
    /// asked about. Requests for a URL in flight join it.
    case http
    /// Requests for a URL in flight join it, and what this process has fetched is not fetched
    /// again.
    case session
    /// Each reference is fetched by itself.
    case off
  }

  /// Engines at most.
  public static let maximumFetchers = 64

  let memory: FetchMemory
  /// Those that fetch: ``engines``, or processes.
  private let services: [any FetchService]
  /// The loops on threads of this process; none where processes fetch.
  let engines: [FetchEngine]
  private let processes: FetcherProcesses?
  let routes: FetchRoutes
  /// The latest URL that passed the gate: a campaign names the same one again and again.
  private let latest = Mutex<(text: UntrustedText, checked: CheckedURL)?>(nil)
  private let isShutDown = Atomic<Bool>(false)

  /// Starts the fetcher's threads.
  ///
  /// - Parameter clock: what the deadlines of the fetches are kept by. While it is behind with
  ///   them, it goes before what can wait.
  /// - Throws: ``StartError`` when the system or a library refuses, a wrong file of roots or name
  ///   server included.
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
    let memory = FetchMemory(configuration, store: store, trust: trust, machine: network.machine)
    let count = configuration.fetcherCount(on: network.machine)
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
    routes = FetchRoutes(engines: count, transfersPerOrigin: configuration.transfersPerOrigin, joins: configuration.cache != .off)
  }

  /// Has processes of their own fetch, each of which is started when it is first needed.
  ///
  /// - Parameters:
  ///   - parent: what starts them; it was made with this configuration, before there were threads.
  ///   - tell: what the user should know, such as that a process ended and was replaced; on a
  ///     thread of its own.
  /// - Throws: ``StartError`` when the system refuses, or for a wrong file of roots.
  package init(
    _ configuration: Configuration, store: AttachmentStore, clock: (any DeadlineClock)? = nil, parent: FetcherParent,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    try RootCertificates.check(configuration.rootCertificates)
    // The index is asked by each fetcher alone, and knows for a while nothing of what another has
    // written.
    memory = FetchMemory(configuration, store: store, hasIndex: false, machine: SystemMachine())
    let count = configuration.fetcherCount(on: memory.machine)
    let processes = try FetcherProcesses(memory, count: count, parent: parent, clock: clock, notify: notify)
    (engines, services, self.processes) = ([], processes.links, processes)
    routes = FetchRoutes(engines: count, transfersPerOrigin: configuration.transfersPerOrigin, joins: configuration.cache != .off)
  }

  /// Whether no fetcher can be started any more; whatever is asked for ends with
  /// ``Reason/internal``.
  package var isBroken: Bool { processes?.isBroken ?? false }

  /// Ends all transfers without an answer, and the threads and processes, when the HTTP cache has
  /// been written.
  ///
  /// - Returns: what the user should know of the cache, such as that it was damaged and is begun
  ///   anew.
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

  /// Writes what the HTTP cache has still to write, and waits for that, for as long as a disk that
  /// works could take.
  ///
  /// - Returns: what the user should know of the cache.
  private func closeCache() -> String? {
    guard memory.configuration.cache == .http, let wakeSignal = try? memory.machine.makeWakeSignal() else { return nil }
    let end = memory.machine.now.advanced(by: HTTPCache.closingPatience)
    let outcome = Mutex<(open: Int, warning: String?)>((services.count, nil))
    for service in services {
      service.closeCache { warning in
        outcome.withLock { $0 = ($0.open - 1, $0.warning ?? warning) }
        wakeSignal.ring()
      }
    }
    while outcome.withLock({ $0.open > 0 }), memory.machine.now < end { wakeSignal.wait(until: end) }
    return outcome.withLock { $0.warning }
  }

  /// Fetches what `url` names.
  ///
  /// - Parameters:
  ///   - url: as the payload writes it; both gates are asked here and at every redirect.
  ///   - deadline: the end of the budget. No further try is made after it; the caller ends the
  ///     fetch itself, with ``FetchTicket/cancel()``.
  ///   - completion: called at most once, on any thread, with the stored file, which is pinned once
  ///     for the caller, or with a reason;
  ///     and with the report's record.
  /// - Returns: what ends the fetch early and shows how far it is.
  public func fetch(
    _ url: String, deadline: MonotonicInstant, completion: @escaping @Sendable (Result<StoredFile, FetchFailure>, MediaRecord) -> Void
  ) -> FetchTicket {
    let url = UntrustedText(url)
    let waiter = FetchWaiter(url: url, deadline: deadline, machine: memory.machine, completion: completion)
    do throws(Refusal) {
      let checked = try check(url)
      if !memory.answerAtOnce(checked, for: waiter) { begin(checked, for: waiter) }
    } catch {
      waiter.complete(.failure(FetchFailure(error)))
    }
    return FetchTicket(waiter: waiter)
  }

  private func begin(_ url: CheckedURL, for waiter: FetchWaiter) {
    let number = routes.enter(url)
    waiter.go(to: services[number], host: url.host) { [routes] in routes.leave(url, number) }
    services[number].fetch(url, for: waiter)
  }

  /// Asks each fetcher how its origins stand: an answer also says that its loop turns.
  ///
  /// - Parameter answer: called once on a thread of the fetchers with the sums, never after
  ///   ``shutdown()``; must not block.
  public func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    let gathered = Mutex((missing: services.count, states: BreakerStates()))
    for service in services {
      service.countOrigins { own in
        let all = gathered.withLock { gathered in
          gathered.states.add(own)
          gathered.missing -= 1
          return gathered.missing == 0 ? gathered.states : nil
        }
        if let all { answer(all) }
      }
    }
  }

  private func check(_ url: UntrustedText) throws(Refusal) -> CheckedURL {
    // Before two long texts are compared.
    guard url.utf8.count <= URLGate.maximumBytes else { throw URLGate.tooLong }
    let earlier = latest.withLock { $0 }
    if let earlier, earlier.text == url { return earlier.checked }
    let checked = try memory.gate.check(url.string, after: earlier?.checked)
    latest.withLock { $0 = (url, checked) }
    return checked
  }
}

/// A fetch under way, seen by the one who asked for it.
public struct FetchTicket: Sendable {
  let waiter: FetchWaiter

  /// How far the fetch is.
  public var record: MediaRecord {
    waiter.record(ending: nil)
  }

  /// What the fetch waits for, or waited for last, in words; nil for one that never waited.
  var awaited: String? { waiter.awaited }

  /// Ends the fetch for this caller: its completion is not called any more. A download that nobody
  /// else waits for is broken off.
  public func cancel() {
    guard let (fetcher, onLeave) = waiter.close() else { return }
    fetcher.leave(waiter, done: onLeave)
  }
}
