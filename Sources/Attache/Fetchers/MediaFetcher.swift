internal import Synchronization

/// Downloads media into the store: URL checks, name resolution, connections, redirects, retries and
/// type detection, all within the caller's deadline.
///
/// There is one engine for each processor. An engine is a loop on its own thread: it runs
/// transfers, and detects, hashes and writes the received bytes. Releasing a fetcher shuts it down.
public final class MediaFetcher: Sendable {
  let memory: FetchMemory
  private let pool: FetcherPool
  private let links: [FetcherLink]
  /// The fetchers on threads of this process; empty when processes fetch.
  let engines: [FetchEngine]
  /// The loop that receives the fetchers' replies.
  var loop: EventLoop { pool.loop }
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
  public convenience init(_ configuration: FetchConfiguration, store: AttachmentStore, clock: MonotonicClock? = nil) throws(StartError) {
    try self.init(configuration, store: store, clock: clock, network: .real(configuration))
  }

  /// Starts the fetcher with a different trust time for its session cache.
  ///
  /// - Parameter trust: how long a file is assumed to be in the store without a check.
  convenience init(_ configuration: FetchConfiguration, store: AttachmentStore, trust: Duration) throws(StartError) {
    try self.init(configuration, store: store, trust: trust, network: .real(configuration))
  }

  /// Starts the fetcher on a machine and a network of the caller, which may simulate them.
  package init(
    _ configuration: FetchConfiguration, store: AttachmentStore, trust: Duration = SessionCache.trust, clock: MonotonicClock? = nil,
    network: FetchNetwork
  ) throws(StartError) {
    let (machine, count) = (network.machine, configuration.fetcherCount(on: network.machine))
    memory = FetchMemory(configuration, store: store, trust: trust, engines: count, machine: machine)
    let files = try FetchFiles(configuration)
    let (shared, streams): (FetcherMemory, [(any ByteStream, any ByteStream)])
    do throws(SystemError) {
      shared = try FetcherMemory()
      shared.keepFromChildren()
      streams = try (0..<count).map { _ throws(SystemError) in try machine.makeStreams() }
    } catch {
      throw StartError("\(error)")
    }
    var engines: [FetchEngine] = []
    do throws(StartError) {
      for number in 0..<count {
        engines.append(
          try FetchEngine(configuration, store: store, files: files, number: number, of: count, clock: clock, network: network))
      }
      pool = try FetcherPool(memory, count: count, shared: shared, clock: clock)
    } catch {
      for engine in engines { engine.shutdown() }
      throw error
    }
    (self.engines, links) = (engines, pool.makeLinks())
    for (number, (engine, (own, other))) in zip(engines, streams).enumerated() {
      FetcherServer(engine, number: number, shared: shared, stream: other) { [weak engine] in engine?.shutdown() }.start()
      links[number].connect(own)
    }
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
    _ configuration: FetchConfiguration, store: AttachmentStore, clock: MonotonicClock? = nil, parent: FetcherParent,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    try RootCertificates.check(configuration.rootCertificates)
    let machine = SystemMachine()
    let count = configuration.fetcherCount(on: machine)
    memory = FetchMemory(configuration, store: store, engines: count, machine: machine)
    pool = try FetcherPool(memory, count: count, shared: parent.memory, parent: parent, clock: clock, notify: notify)
    (engines, links) = ([], pool.makeLinks())
  }

  /// Whether no fetcher process can be started any more. Then all requests fail with
  /// ``Reason/internal``.
  package var isBroken: Bool { pool.isBroken.load(ordering: .relaxed) }

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
    for link in links { link.shutdown() }
    pool.shutdown()
    for engine in engines { engine.shutdown() }
  }

  /// Writes the pending rows of the HTTP cache, and waits at most ``HTTPCache/closingTimeLimit``,
  /// the time that a working disk could need.
  ///
  /// - Returns: a warning for the user about the cache.
  private func closeCache() -> String? {
    guard memory.configuration.cache == .http, let wakeSignal = try? memory.machine.makeWakeSignal() else { return nil }
    let end = memory.machine.now.advanced(by: HTTPCache.closingTimeLimit)
    let warnings = Mailbox<[String?]>([]) { wakeSignal.ring() }
    for link in links {
      link.closeCache { warning in warnings.change { $0.append(warning) } }
    }
    while warnings.take({ ($0.count < links.count, sleeps: true) }), memory.machine.now < end { wakeSignal.wait(until: end) }
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

  /// How long a picture that comes now is expected to wait at most until its conversion begins; nil if
  /// nothing is converted.
  var conversionWait: Duration? { memory.conversions?.wait }

  /// Sets the function to call when ``places(within:)`` may have risen although no payload was decided.
  /// It must not block.
  func whenPlacesRise(_ action: @escaping @Sendable () -> Void) {
    memory.conversions?.whenPlacesRise(action)
  }

  private func begin(_ url: CheckedURL, for waiter: FetchWaiter, _ refusal: FetchFailure?) {
    let number = memory.enter(url)
    let link = links[number]
    waiter.go(to: url.host) { [memory, link] cancelled in
      guard let cancelled else { return memory.leave(url, number) }
      // A fetcher that hangs counts as loaded until it has removed the waiter.
      link.leave(cancelled) { memory.leave(url, number) }
    }
    link.fetch(url, fields: memory.configuration.fields[url.origin], for: waiter, refusal: refusal)
  }

  /// Asks each fetcher for a reply, which shows that its loop is running.
  ///
  /// - Parameter answer: called once, on a thread of the fetchers, with the number of origins in
  ///   each state of the circuit breaker. Never called after ``shutdown()``. Must not block.
  public func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    Self.pulse(links[...]) { [memory] in answer(memory.breakerStates) }
  }

  /// Asks one fetcher after the other.
  private static func pulse(_ links: ArraySlice<FetcherLink>, _ answer: @escaping @Sendable () -> Void) {
    guard let next = links.first else { return answer() }
    next.pulse { pulse(links.dropFirst(), answer) }
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
    waiter.cancel()
  }
}

extension FetchTicket {
  /// Returns the record of a fetch that did not finish. At the deadline, it says whether the picture
  /// was being converted, or what the fetch waited for, if that took half of the time.
  func record(endedBy reason: Reason) -> MediaRecord {
    var record = record
    record.reason = reason
    guard reason == .deadline else { return record }
    if isConverting {
      record.reason = .convertDeadline
    } else if let wait = record.timing.wait, let total = record.timing.total, wait * 2 >= total, let awaited {
      let tenths = Int(wait.milliseconds / 100)
      record.explanation = "waited \(tenths / 10).\(tenths % 10) s for \(awaited); raise that limit, or --deadline"
    }
    return record
  }
}
