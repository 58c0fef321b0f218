internal import CFetcher
internal import CLinux
internal import CSandbox
internal import Glibc
internal import Synchronization

/// The implementation of a fetcher: it serves the host's requests, in a process of its own or on a
/// thread of the host's process, and ends when the connection does.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class FetcherServer: @unchecked Sendable {
  let engine: FetchEngine
  private let shared: FetcherMemory
  private let number: Int
  private var stream: FrameStream
  private var waiters: [UInt64: FetchWaiter] = [:]
  /// The latest URL that passed the gate.
  private var latest: CheckedURL?
  /// Called before the reply to a pulse.
  private let onPulse: () -> Void
  /// Called when the connection has ended.
  private let onEnd: () -> Void

  private var loop: EventLoop { engine.loop }

  init(
    _ engine: FetchEngine, number: Int, shared: FetcherMemory, stream: any ByteStream, onPulse: @escaping () -> Void = {},
    onEnd: @escaping () -> Void
  ) {
    (self.engine, self.number, self.shared, self.onPulse, self.onEnd) = (engine, number, shared, onPulse, onEnd)
    self.stream = FrameStream(stream, maximumFrame: FetcherFrame.maximumBytes)
  }

  /// Reports to the host why a fetcher cannot be started. The end of its connection follows.
  static func report(_ error: any Error, to connection: Int32) {
    var bytes: [UInt8] = []
    FrameStream.append(to: &bytes) { FetcherFrame.append(.failed("\(error)"), to: &$0) }
    _ = unsafe linux_send(connection, bytes, bytes.count)
  }

  /// Serves requests in a process that has just been forked, until it ends.
  static func run(
    _ order: FetcherParent.Order, _ configuration: FetchConfiguration, store: String, limits: StoreEviction.Limits,
    bounds: FetcherBounds, memory shared: FetcherMemory, from start: FetcherStart, connection: Int32
  ) -> Never {
    unsafe fetcher_name("fetcher")
    let (missing, readable) = bounds.confine(store: store, roots: configuration.rootCertificates == nil ? start.roots?.path : nil)
    // This runs on a new thread: a thread that used a Mutex before a fork must not wait for a
    // contended one after it.
    let serve = { @Sendable [start] in
      do {
        let files = try start.files.get()
        let network = FetchNetwork.real(configuration, roots: start.roots, engines: 1) {
          Self.leave(ifReplaced: readable, order.number, shared)
        }
        let store = try AttachmentStore(sharing: store, limits: limits, temporaryName: order.temporaryName, firstNumber: order.firstNumber)
        let engine = try FetchEngine(
          configuration, store: store, files: files, number: order.number, of: order.count, isAlone: true, network: network)
        let server = FetcherServer(engine, number: order.number, shared: shared, stream: SocketStream(connection)) {
          Self.leave(ifReplaced: readable, order.number, shared)
        } onEnd: {
          // The host is gone, or has closed the connection to end this process.
          _exit(0)
        }
        server.startInProcess(missing)
      } catch {
        report(error, to: connection)
        _exit(70)
      }
    }
    do throws(SystemError) {
      try Thread.start("start", .usual, serve).detach()
    } catch {
      report(error, to: connection)
      _exit(71)
    }
    shared.watchTurns(of: order.number)
    while true { pause() }
  }

  /// Ends this process when it may no longer read a file such as resolv.conf: c-ares would use a name
  /// server on this machine without reporting an error. The host starts a new process, which may read
  /// the new file, and asks again for what was in flight.
  private static func leave(ifReplaced files: ReadableFiles, _ number: Int, _ shared: FetcherMemory) {
    guard files.areReplaced else { return }
    // No fetch is the cause.
    shared.endWork(of: number)
    _exit(0)
  }

  /// - Parameter missing: the limits of the process that could not be applied.
  private func startInProcess(_ missing: FetcherBounds.Missing) {
    SurvivedFailures.process.report { [self] sentence in
      loop.post { [self] in reply(.survived(sentence)) }
      return true
    }
    start {
      // All threads run now.
      missing.contains(.calls) || sandbox_end_threads() ? missing : missing.union(.threads)
    }
  }

  /// Starts to serve requests.
  ///
  /// - Parameter ready: called on the loop first; returns the limits that could not be applied.
  func start(_ ready: @escaping @Sendable () -> FetcherBounds.Missing = { [] }) {
    loop.post { [self] in
      let missing = ready()
      loop.atStepEnd { [self] in shared.endWork(of: number) }
      engine.converters?.loadChanged = { [weak self] in self?.reply(.load(milliseconds: $0.inFrame)) }
      reply(.ready(missing))
      // The host learns this before any fetch begins.
      flush()
      // The host may have sent requests already.
      receive()
    }
    // Afterwards: the first flush has the loop watch the connection.
    loop.atTurnEnd { [self] in endTurn() }
  }

  private func endTurn() {
    flush()
    shared.endTurn(of: number)
  }

  private func flush() {
    do throws(FrameStream.Fault) {
      try stream.flush()
    } catch {
      return onEnd()
    }
    guard let interest = stream.changedInterest() else { return }
    loop.watch(stream.descriptor, for: interest) { [self] _, readiness in
      if readiness != .writable { receive() }
    }
  }

  private func receive() {
    var requests: [FetcherRequest] = []
    do throws(FrameStream.Fault) {
      try stream.receive { bytes throws(FrameStream.Fault) in
        requests.append(try FetcherFrame.request(bytes))
      }
    } catch {
      return onEnd()
    }
    for request in requests { carryOut(request) }
  }

  private func carryOut(_ request: FetcherRequest) {
    switch request {
    case .fetch(let fetch, let place, let payload, let deadline, let isRefused, let fields, let url):
      // The host knows the message.
      begin(fetch, at: Int(place), payload, deadline, url, fields, isRefused ? FetchFailure(reason: .policyBreaker) : nil)
    case .extend(let fetch, let payload, let deadline):
      guard let waiter = waiters[fetch] else { return }
      waiter.join(payload, until: deadline)
      waiter.fetch?.joined(by: waiter)
    case .cancel(let fetch):
      var health = OriginHealth()
      if let waiter = waiters.removeValue(forKey: fetch) {
        waiter.cancel()
        health = waiter.fetch?.health ?? health
        engine.leave(waiter)
      }
      reply(.left(fetch, health))
    case .pulse(let number):
      onPulse()
      reply(.alive(number))
    case .close:
      reply(.closed(warning: engine.cache?.close() ?? ""))
    }
  }

  private func begin(
    _ fetch: UInt64, at place: Int, _ payload: UInt64, _ deadline: MonotonicInstant, _ url: String, _ fields: [String],
    _ refusal: FetchFailure?
  ) {
    let trace = FetchTrace(memory: shared, fetcher: number, fetch: fetch, place: place)
    shared.begin(fetch, at: place, by: number)
    let waiter = FetchWaiter(url: "", payload: payload, deadline: deadline, machine: loop.machine, trace: trace) { [weak self] turn in
      self?.reply(.converts(fetch, milliseconds: turn.inFrame))
    } completion: { [weak self] result, record in
      guard let self else { return }
      answer(fetch, result, record, of: waiters.removeValue(forKey: fetch)?.fetch)
    }
    waiters[fetch] = waiter
    do throws(Refusal) {
      let checked = try engine.rulesOfFetches.gate.check(url, after: latest)
      latest = checked
      engine.begin(checked, fields: fields, for: waiter, refusal: refusal)
    } catch {
      waiter.complete(.failure(FetchFailure(error)))
    }
  }

  private func answer(
    _ number: UInt64, _ result: Result<StoredFile, FetchFailure>, _ record: MediaRecord, of fetch: Fetch?
  ) {
    let end: FetcherResult.End
    switch result {
    case .success(let file):
      end = .stored(file, keptUntil: fetch?.keptUntil)
      // The host pins the file when it receives the reply.
      engine.store.unpin(file)
    case .failure(let failure): end = .failed(failure)
    }
    // On a thread, the host has the same count.
    let added = engine.store.isFetcher ? engine.store.ledger.withLock { $0.takeAdded() } : 0
    reply(
      .fetched(
        FetcherResult(fetch: number, progress: FetchProgress(record), health: fetch?.health ?? OriginHealth(), end: end, added: added)))
  }

  private func reply(_ reply: FetcherReply) {
    stream.gather { FetcherFrame.append(reply, to: &$0) }
  }
}

extension FetchProgress {
  fileprivate init(_ record: MediaRecord) {
    (status, bytes, type, cache) = (record.status, record.bytes, record.type, record.cache)
    (attempts, timing) = (record.attempts, record.timing)
  }
}

extension Duration {
  /// Whole milliseconds, rounded up.
  fileprivate var inFrame: UInt32 { UInt32(clamping: Int64(milliseconds.rounded(.up))) }
}

/// Files that a process reads again by their paths after it is confined.
///
/// Landlock permits files, not paths. A file that takes the place of another, by a rename or because
/// a link leads elsewhere, is closed to the process. A new process may read it.
struct ReadableFiles: Sendable {
  private let paths: [String]

  /// Call it before the process is confined. A file that it may not read now is left out.
  init(_ paths: [String]) {
    self.paths = paths.filter { !Self.isClosed($0) }
  }

  /// Whether a file was replaced since, so that it is closed to this process.
  var areReplaced: Bool { paths.contains(where: Self.isClosed) }

  private static func isClosed(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file < 0 else {
      close(file)
      return false
    }
    return errno == EACCES
  }
}
