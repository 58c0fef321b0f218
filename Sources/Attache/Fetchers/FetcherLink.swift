internal import Glibc
internal import Synchronization

/// The host's side of one fetcher: it sends requests and receives replies. It starts a process when
/// it is first needed and again after it has ended. A thread is connected from the start.
///
/// A method that has an `inout` state runs under its lock, and must not wake the loop there
/// (``change(_:)``): on a simulated machine, another thread would run.
///
/// Requests for a URL in flight join. When a process ends, its open requests are sent to the next
/// one. A request fails with ``Reason/fetchCrashed`` if two processes were working on it when they
/// ended, or if it was in flight when many processes ended.
final class FetcherLink: Sendable {
  typealias Request = FetcherRequests.Request

  /// Actions that run after the lock has been released.
  typealias Afterwards = [() -> Void]

  /// The maximum number of unsent bytes: far more than the requests that a run's window admits.
  private static let maximumUnsent = 256 << 20

  let number: Int
  let pool: FetcherPool
  let state = Mutex(FetcherLinkState())

  var joins: Bool { pool.memory.configuration.cache != .off }
  var store: AttachmentStore { pool.memory.store }

  init(_ number: Int, of pool: FetcherPool) {
    (self.number, self.pool) = (number, pool)
  }

  /// Connects the link to a fetcher on a thread.
  func connect(_ stream: any ByteStream) {
    state.withLock { $0.stream = FrameStream(stream, maximumFrame: FetcherFrame.maximumBytes) }
    pool.loop.post { [self] in watchStream() }
  }

  /// Changes the state, and then has the loop send what was gathered.
  func change<Value: Sendable>(_ body: (inout FetcherLinkState) -> Value) -> Value {
    let (value, flushes) = state.withLock { state in
      let value = body(&state)
      defer { state.flushes = [] }
      return (value, state.flushes)
    }
    if flushes.contains(.soon) { pool.loop.post { [self] in flushNow() } }
    if flushes.contains(.later) {
      pool.loop.post { [self] in
        pool.loop.postLowPriority { [self] in flushNow() }
      }
    }
    return value
  }

  // MARK: What is asked

  /// Fetches a URL for a waiter.
  ///
  /// - Parameters:
  ///   - fields: the operator's header lines for the origin of the URL.
  ///   - refusal: why the circuit breaker refuses the request. Then only a fresh file of the cache may
  ///     be handed out; without one, this is the result. nil when the request may be sent.
  func fetch(_ url: CheckedURL, fields: [String], for waiter: FetchWaiter, refusal: FetchFailure?) {
    // A file that was fetched but not seen recently is looked up on the loop, because a disk may
    // block.
    guard let (file, _) = pool.memory.file(for: url.text) else { return ask(url, fields, for: waiter, refusal) }
    pool.loop.post { [self] in
      guard waiter.isOpen, !pool.memory.answerAfterLook(url, for: waiter, with: file) else { return }
      ask(url, fields, for: waiter, refusal)
    }
  }

  private func ask(_ url: CheckedURL, _ fields: [String], for waiter: FetchWaiter, _ refusal: FetchFailure?) {
    let isRefused = change { state in
      guard !state.isOver else { return true }
      // One that was cancelled before it had a request has left already.
      guard waiter.isOpen else { return false }
      if joins, refusal == nil, let number = state.requests.number(for: url.text), let request = state.requests[number] {
        join(waiter, request, number, &state)
        return false
      }
      let place = state.places.take { pool.placeBlocks.next() }
      let request = Request(
        url: url, fields: fields, refusal: refusal, place: place, deadline: waiter.deadline, waiters: [waiter], prunes: pruneCount,
        begun: pool.loop.now)
      add(request, &state)
      return false
    }
    if isRefused { failAll([waiter], Self.broken) }
  }

  var pruneCount: UInt64 { store.prunes.load(ordering: .sequentiallyConsistent) }

  /// Sends a request, or starts a process that it will be sent to.
  func add(_ request: Request, _ state: inout FetcherLinkState) {
    let number = pool.nextNumber()
    for waiter in request.waiters {
      waiter.request = number
      waiter.follow(.shared(pool.shared, fetch: number, place: request.place))
    }
    state.requests.add(request, as: number, joins: joins)
    guard state.stream != nil else { return start(&state, after: state.pause.length) }
    state.send(request, number)
    // With other requests in flight, this one is sent with other gathered frames in a single system
    // call.
    if state.requests.count > 1 { state.flushSoon() } else { flush(&state) }
  }

  private func join(_ waiter: FetchWaiter, _ request: Request, _ number: UInt64, _ state: inout FetcherLinkState) {
    var request = request
    waiter.request = number
    waiter.note { $0.cache = .joined }
    waiter.follow(.shared(pool.shared, fetch: number, place: request.place))
    request.waiters.append(waiter)
    if waiter.deadline > request.deadline {
      request.deadline = waiter.deadline
      state.stream?.gather { FetcherFrame.append(.extend(number, payload: waiter.payloads[0], deadline: waiter.deadline), to: &$0) }
      state.flushSoon()
    }
    state.requests[number] = request
  }

  /// Removes a cancelled waiter.
  ///
  /// - Parameter done: called once the waiter is removed. A fetcher that hangs counts as loaded
  ///   until then.
  func leave(_ waiter: FetchWaiter, done: @escaping @Sendable () -> Void) {
    let isOut = change { state in
      let number = waiter.request
      guard var request = state.requests[number] else { return true }
      request.waiters.removeAll { $0 === waiter }
      guard request.waiters.isEmpty else {
        state.requests[number] = request
        return true
      }
      state.requests.remove(number)
      guard state.stream != nil else {
        state.places.give(back: request.place)
        return true
      }
      state.leaving[number] = (request, done)
      state.stream?.gather { FetcherFrame.append(.cancel(number), to: &$0) }
      state.flushLater()
      return false
    }
    if isOut { done() }
  }

  /// Asks for a reply, which shows that the fetcher's loop is running.
  func pulse(_ answer: @escaping @Sendable () -> Void) {
    let isIdle = change { state in
      // Without a process there is nothing to ask. A process that starts will reply.
      guard !state.isOver, state.stream != nil || state.isStarting else { return true }
      let number = pool.nextNumber()
      state.pulses[number] = answer
      state.stream?.gather { FetcherFrame.append(.pulse(number), to: &$0) }
      state.flushSoon()
      return false
    }
    if isIdle { answer() }
  }

  /// Makes the HTTP cache write its pending rows.
  ///
  /// - Parameter done: called once, with a warning for the user about the cache.
  func closeCache(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    let isIdle = change { state in
      guard state.stream != nil else { return true }
      state.closing.append(done)
      state.stream?.gather { FetcherFrame.append(.close, to: &$0) }
      state.flushSoon()
      return false
    }
    if isIdle { done(nil) }
  }

  /// Ends everything without calling completions.
  func shutdown() {
    state.withLock { $0.isOver = true }
    pool.loop.post { [self] in
      // What waits holds this link, and is dropped outside the lock.
      let dropped = state.withLock { state in
        defer { (state.leaving, state.pulses, state.closing) = ([:], [:], []) }
        return (state.removeAllRequests(), state.leaving, state.pulses, state.closing)
      }
      withExtendedLifetime(dropped) {}
      let stream = state.withLock { $0.stream.take() }
      if let stream { pool.loop.unwatch(stream.descriptor) }
    }
  }

  /// Sends what has been gathered. The loop detects the end of the connection.
  func flush(_ state: inout FetcherLinkState) {
    guard (try? state.stream?.flush()) != nil, let unsent = state.stream?.unsentBytes, unsent > 0 else { return }
    // The loop ends a process that reads nothing.
    state.flushSoon()
  }

  private func flushNow() {
    let isStuck = state.withLock { state in
      (state.isFlushing, state.isFlushingLater) = (false, false)
      _ = try? state.stream?.flush()
      return state.stream?.unsentBytes ?? 0 > Self.maximumUnsent
    }
    if isStuck { ended() } else { watchStream() }
  }
}

/// The start of a fetcher process, on the loop.
extension FetcherLink {
  func start(_ state: inout FetcherLinkState, after pause: Duration) {
    guard !state.isStarting, !state.isOver else { return }
    state.isStarting = true
    pool.loop.post { [self] in
      guard pause > .zero else { return start() }
      _ = pool.loop.schedule(at: pool.loop.now.advanced(by: pause)) { [self] in start() }
    }
  }

  private func start() {
    // A thread does not end by itself.
    guard let parent = pool.parent else { return giveUp() }
    let (own, other): (Int32, Int32)
    do throws(SystemError) {
      (own, other) = try SocketStream.pair()
    } catch {
      return startLater(after: error)
    }
    defer { close(other) }
    let order = state.withLock { state in
      state.generation += 1
      state.parent = parent.generation
      return FetcherParent.Order(
        number: number, count: pool.count, generation: state.generation, temporaryName: store.temporary.name,
        needsRoots: state.requests.needsRoots)
    }
    pool.shared.forgetWork(of: number)
    let isStarted = parent.start(order, connection: other)
    // The parent cannot take an order at the moment, or is gone. The end of the parent is detected
    // elsewhere.
    guard isStarted else {
      let error = SystemError(call: "sendmsg", number: errno)
      close(own)
      return startLater(after: error)
    }
    begin(own)
  }

  /// Sends what waits for the new process.
  ///
  /// - Parameter connection: this end of the connection.
  private func begin(_ connection: Int32) {
    change { state in
      state.isStarting = false
      guard !state.isOver else {
        close(connection)
        return
      }
      state.stream = FrameStream(SocketStream(connection), maximumFrame: FetcherFrame.maximumBytes)
      (state.isReady, state.hasAnswered, state.start) = (false, false, pool.loop.now)
      for (number, request) in state.requests.inOrder {
        state.requests[number]?.prunes = pruneCount
        state.send(request, number)
      }
      for number in state.pulses.keys { state.stream?.gather { FetcherFrame.append(.pulse(number), to: &$0) } }
      flush(&state)
    }
    watchStream()
    lookAfter()
  }

  /// Retries later: the start failed for lack of a descriptor, for example, and others may be
  /// released. The requests fail when this has happened too often in a row.
  private func startLater(after error: SystemError) {
    var afterwards: Afterwards = []
    let mayStart = state.withLock { state in
      guard !state.isOver else { return false }
      _ = state.pause.next()
      guard state.noteFailedStart() else { return true }
      state.message = "\(error)"
      giveUpStarting(&state, &afterwards)
      state.isStarting = false
      return false
    }
    for action in afterwards { action() }
    guard mayStart else { return }
    _ = pool.loop.schedule(at: pool.loop.now.advanced(by: FetcherLinkState.longestPause)) { [self] in start() }
  }
}
