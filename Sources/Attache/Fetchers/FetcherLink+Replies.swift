internal import Synchronization

/// The replies of a fetcher process, on the loop.
extension FetcherLink {
  private static let maximumLosses = 3

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
    pool.memory.note(health, of: request.url)
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
}
