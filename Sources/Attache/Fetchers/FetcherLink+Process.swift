internal import Glibc
internal import Synchronization

/// The start and the end of a fetcher process, on the loop.
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

  func watchStream() {
    let (socket, interest) = state.withLock { ($0.stream?.descriptor, $0.stream?.changedInterest()) }
    guard let socket, let interest else { return }
    pool.loop.watch(socket, for: interest) { [self] _, readiness in
      if readiness.contains(.writable) {
        change { flush(&$0) }
        watchStream()
      }
      if readiness != .writable { receive() }
    }
  }

  // MARK: The end of a process

  /// Called when the parent reports the end of a process.
  func hasEnded(_ generation: Int) {
    // The replies that it sent before are read first, up to the end of the connection.
    while state.withLock({ $0.generation == generation && $0.stream != nil }), receive() {}
    if state.withLock({ $0.generation == generation && $0.stream != nil }) { ended() }
  }

  /// Called when the process is gone or unusable. Another process takes over.
  func ended() {
    var afterwards: Afterwards = []
    let generation = state.withLock { state -> Int? in
      guard let stream = state.stream.take() else { return nil }
      pool.loop.unwatch(stream.descriptor)
      for (request, done) in state.leaving.values {
        state.places.give(back: request.place)
        afterwards.append(done)
      }
      for done in state.closing { afterwards.append { done(nil) } }
      (state.leaving, state.closing) = ([:], [])
      afterwards.append { [self] in pool.memory.conversions?.note(load: .zero, of: number) }
      // No request is the cause of the parent's end.
      if pool.parent?.hasEnded(state.parent) != true {
        let isEarly = !state.hasAnswered && state.start.duration(to: pool.loop.now) < FetcherLinkState.longestPause
        if isEarly { _ = state.pause.next() } else { state.pause.reset() }
        if state.isReady { blame(&state, &afterwards) } else if state.noteFailedStart() { giveUpStarting(&state, &afterwards) }
      }
      if !state.requests.isEmpty || !state.pulses.isEmpty { start(&state, after: state.pause.length) }
      return state.generation
    }
    guard let generation else { return }
    pool.parent?.end(number, generation)
    store.temporary.removeFiles(numbered: FetcherParent.Order.numbers(of: number, generation))
    for action in afterwards { action() }
  }

  /// Fails the requests that have ended too many processes, as far as that is known.
  private func blame(_ state: inout FetcherLinkState, _ afterwards: inout Afterwards) {
    for request in state.requests.noteEnd(suspect: pool.shared.fetchAtWork(of: number)) {
      state.places.give(back: request.place)
      afterwards.append { [self] in failAll(request.waiters, FetchFailure(reason: .fetchCrashed)) }
    }
  }

  /// Fails all requests when no process can be started. No request is the cause.
  private func giveUpStarting(_ state: inout FetcherLinkState, _ afterwards: inout Afterwards) {
    let waiters = state.removeAllRequests()
    let cause = state.message.isEmpty ? "it ends at once; \(Shortage.memory)" : state.message
    var failure = FetchFailure(reason: .internal, message: "no fetcher can be started: \(cause)")
    failure.isOfMachine = true
    afterwards.append { [self, failure] in failAll(waiters, failure) }
  }

  /// Fails all requests, since the parent ends repeatedly before it has started a process.
  func giveUpStarting() {
    var afterwards: Afterwards = []
    state.withLock { giveUpStarting(&$0, &afterwards) }
    for action in afterwards { action() }
  }

  /// Fails all requests, since no process can be started any more.
  func giveUp() {
    var waiters: [FetchWaiter] = []
    var afterwards: Afterwards = []
    state.withLock { state in
      waiters = state.removeAllRequests()
      for (_, done) in state.leaving.values { afterwards.append(done) }
      for answer in state.pulses.values { afterwards.append(answer) }
      for done in state.closing { afterwards.append { done(nil) } }
      (state.leaving, state.pulses, state.closing) = ([:], [:], [])
      if let stream = state.stream.take() { pool.loop.unwatch(stream.descriptor) }
      state.isOver = true
    }
    for action in afterwards { action() }
    failAll(waiters, Self.broken)
  }

  static var broken: FetchFailure {
    var failure = FetchFailure(reason: .internal, message: "\(FetcherNotice.broken)")
    failure.isOfMachine = true
    return failure
  }

  // MARK: Silence

  /// Starts to ask the process regularly whether its loop is running.
  private func lookAfter() {
    let begins = state.withLock { state in
      defer { state.silence = state.silence ?? FetcherSilence(since: pool.loop.now) }
      return state.silence == nil
    }
    if begins { lookLater() }
  }

  private func lookLater() {
    _ = pool.loop.schedule(at: pool.loop.now.advanced(by: FetcherSilence.interval)) { [self] in look() }
  }

  private func look() {
    let verdict = state.withLock { state in
      if state.stream == nil || state.isOver { state.silence = nil }
      return state.silence?.look(at: pool.loop.now)
    }
    switch verdict {
    case .ask: pulse { [self] in state.withLock { $0.silence?.noteAnswer() } }
    case .end: ended()
    case .wait: break
    case nil: return
    }
    lookLater()
  }
}
