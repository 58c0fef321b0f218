internal import Glibc
internal import Synchronization

/// What comes back from a fetcher process: its replies, its end and its silence, on the loop.
extension FetcherLink {
  private static let maximumLosses = 3

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

  /// - Returns: whether bytes were received.
  @discardableResult
  func receive() -> Bool {
    var afterwards: Afterwards = []
    let (fault, isNews) = state.withLock { state -> (FrameStream.Fault?, Bool) in
      guard !state.isOver, var stream = state.stream.take() else { return (nil, false) }
      var (fault, isNews): (FrameStream.Fault?, Bool) = (nil, false)
      do throws(FrameStream.Fault) {
        isNews = try stream.receive { bytes throws(FrameStream.Fault) in
          try take(try FetcherFrame.reply(bytes), &state, &afterwards)
        }
      } catch {
        fault = error
      }
      state.stream = consume stream
      return (fault, isNews)
    }
    for action in afterwards { action() }
    if fault != nil { ended() }
    return isNews
  }

  private func take(_ reply: FetcherReply, _ state: inout FetcherLinkState, _ afterwards: inout Afterwards) throws(FrameStream.Fault) {
    switch reply {
    case .ready(let missing):
      state.isReady = true
      state.failedStarts = 0
      pool.noteReady()
      if !missing.isEmpty { afterwards.append { [pool] in pool.tellOnce(of: missing) } }
    case .fetched(let result): try take(result, &state, &afterwards)
    case .left(let number, let health):
      guard let (request, done) = state.leaving.removeValue(forKey: number) else { return }
      state.places.give(back: request.place)
      afterwards.append { [self] in note(health, of: request) }
      afterwards.append(done)
    case .converts(let number, let milliseconds):
      // The first that still waits stands for all: it is one conversion.
      guard let waiter = state.requests[number]?.waiters.first(where: \.isOpen) else { return }
      afterwards.append { waiter.noteConversion(.milliseconds(Int64(milliseconds))) }
    case .load(let milliseconds):
      let load = Duration.milliseconds(Int64(milliseconds))
      afterwards.append { [self] in pool.memory.conversions?.note(load: load, of: number) }
    case .alive(let number):
      guard let answer = state.pulses.removeValue(forKey: number) else { return }
      afterwards.append(answer)
    case .closed(let warning):
      let closing = state.closing
      state.closing = []
      for done in closing { afterwards.append { done(warning.isEmpty ? nil : warning) } }
    case .failed(let message): state.message = message
    case .survived(let message): afterwards.append { SurvivedFailures.process.note("a fetcher: \(message)") }
    }
  }

  private func take(_ result: FetcherResult, _ state: inout FetcherLinkState, _ afterwards: inout Afterwards) throws(FrameStream.Fault) {
    state.hasAnswered = true
    state.pause.reset()
    if case .stored(let file, _) = result.end, file.size < 1 || file.size > pool.memory.configuration.limits[file.type.kind] {
      throw .invalid
    }
    // Only the host's breaker refuses a request.
    if case .failed(let failure) = result.end, failure.reason == .policyBreaker, let request = state.requests[result.fetch],
      request.refusal == nil
    {
      throw .invalid
    }
    let request = state.requests.remove(result.fetch)
    // A request that was cancelled when the result was on its way shows something, too.
    let shown = request ?? state.leaving[result.fetch]?.request
    afterwards.append { [self] in
      store.note(addedByFetchers: result.added)
      if let shown { note(result.health, of: shown) }
      if let request { finish(request, result) }
    }
  }

  /// A fetcher cannot date an exchange before its request. A refused request shows nothing.
  private func note(_ health: OriginHealth, of request: Request) {
    guard request.refusal == nil else { return }
    var health = health
    health.since = health.since.map { max($0, request.begun) }
    if let notice = pool.memory.note(health, of: request.url) { pool.tell(notice) }
  }

  private func finish(_ request: Request, _ result: FetcherResult) {
    switch result.end {
    case .failed(let failure):
      for waiter in request.waiters { waiter.follow(.ended(result.progress)) }
      giveBack(request.place)
      failAll(request.waiters, request.refusal ?? failure)
    case .stored(let file, let keptUntil):
      guard store.takeOver(file, sincePrune: request.prunes) else { return askAgain(request) }
      for waiter in request.waiters { waiter.follow(.ended(result.progress)) }
      giveBack(request.place)
      if joins, let keptUntil { pool.memory.keep(file, for: request.url.text, until: keptUntil == .distantFuture ? nil : keptUntil) }
      pool.memory.handOut(file, to: request.waiters)
    }
  }

  /// Requests again a file that a prune has removed.
  private func askAgain(_ request: Request) {
    var request = request
    request.losses += 1
    guard request.losses < Self.maximumLosses else {
      giveBack(request.place)
      return failAll(
        request.waiters, FetchFailure(reason: .storeFailed, message: "the file was evicted as soon as it was stored; raise --store-max"))
    }
    change { state in
      request.waiters.removeAll { !$0.isOpen }
      guard !request.waiters.isEmpty, !state.isOver else { return state.places.give(back: request.place) }
      request.prunes = pruneCount
      add(request, &state)
    }
  }

  private func giveBack(_ place: Int) {
    state.withLock { $0.places.give(back: place) }
  }

  func failAll(_ waiters: [FetchWaiter], _ failure: FetchFailure) {
    for waiter in waiters { waiter.complete(.failure(failure)) }
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
  func giveUpStarting(_ state: inout FetcherLinkState, _ afterwards: inout Afterwards) {
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
  func lookAfter() {
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
