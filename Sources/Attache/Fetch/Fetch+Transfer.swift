extension Fetch: TransferOwner {
  func beginTransfer() {
    tracker.note { $0.attempts += 1 }
    if let cache = engine.cache { state.reuse.asked = cache.now }
    do throws(TransportError) {
      let request = TransferRequest(
        url: url, addresses: state.addressesInTurn, proxy: engine.proxy, resumption: state.resumption,
        userAgent: engine.configuration.userAgent, originFields: state.fields, conditions: state.conditions,
        avoidsHTTP2: state.avoidsHTTP2,
        connectTimeout: budget / 3)
      transfer = try engine.transport.begin(request, for: self)
      latestNews = engine.loop.now
      noteHealth { $0.begin(at: latestNews) }
      lookForNews(at: latestNews.advanced(by: Self.stallTime))
    } catch {
      fail(FetchFailure(reason: .internal, message: "\(error)"))
    }
  }

  func transferReceivedHead(_ head: ResponseHead) -> Bool {
    let goesOn = goesOn(after: .head(head, at: engine.cache?.now))
    latestNews = engine.loop.now
    noteTimes(transfer?.times, status: head.status)
    // A response of the proxy itself says nothing about the origin.
    let isOfProxy = engine.proxy != nil && head.status == 407
    noteHealth { $0.receive(isOfProxy ? nil : OriginHealthSignal(status: head.status)) }
    return goesOn
  }

  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    let ingest = openIngest()
    guard !ingest.isFull else {
      isPaused = true
      return .pause
    }
    let expected = state.expected(with: bytes.count)
    latestNews = engine.loop.now
    let isWanted = goesOn(after: .body(bytes.count))
    tracker.note { $0.bytes = state.received }
    guard isWanted else { return .stop }
    do throws(FetchFailure) {
      try unsafe ingest.take(bytes, expecting: expected)
    } catch {
      _ = state.handle(.refused(error))
    }
    let isAllowed = noteType(of: ingest)
    askDetector(about: ingest)
    return isAllowed && state.failure == nil ? .take : .stop
  }

  func transferEnded(_ end: TransferEnd) {
    noteTimes(end.times)
    (transfer, isPaused) = (nil, false)
    noteHealth { $0.end(state.hasHead ? nil : state.failure == nil ? OriginHealthSignal(end) : nil, isCutOff: state.isCutOff(by: end)) }
    leavePlace()
    act(on: .ended(end))
  }

  /// Reports an event to the state where nothing may be started or ended, such as in a call from
  /// the transport.
  ///
  /// - Returns: whether the transfer continues.
  private func goesOn(after event: FetchState.Event) -> Bool {
    let action = state.handle(event)
    if ingestBody != state.body { ingest = nil }
    return if case .proceed = action { true } else { false }
  }

  private func noteTimes(_ times: TransferTimes?, status: Int? = nil) {
    tracker.note { record in
      if let status { record.status = status }
      guard let times else { return }
      record.timing.connect = times.connect
      record.timing.tls = times.tls
      record.timing.firstByte = times.firstByte
    }
  }
}

// MARK: The file

extension Fetch {
  private func openIngest() -> MediaIngest {
    if let ingest { return ingest }
    let ingest = engine.makeIngest()
    (self.ingest, ingestBody) = (ingest, state.body)
    return ingest
  }

  /// Finishes the file after all its bytes have arrived.
  func finish() {
    let ingest = openIngest()
    do throws(FetchFailure) {
      if let finished = try ingest.finish(isEndCertain: state.isEndCertain) { take(finished) } else { askDetector(about: ingest) }
    } catch {
      noteType(of: ingest)
      fail(error)
    }
  }

  private func take(_ finished: MediaIngest.Finished) {
    switch finished {
    case .stored(let file): take(file)
    case .picture(let picture):
      self.picture = picture
      act(on: .completed)
    }
  }

  func take(_ file: StoredFile) {
    guard !state.isOver else { return engine.release(of: file) }
    act(on: .stored(file))
  }

  private func askDetector(about ingest: MediaIngest) {
    guard let question = ingest.takeQuestion() else { return }
    engine.detectors.ask(question, of: tracker.waiter?.payloads ?? [], by: tracker.waiter?.deadline ?? .distantFuture) { [self] in
      tracker.isAwaited
    } answer: { [self, body = ingestBody] detection in
      // A result for an earlier body is ignored.
      if body == ingestBody, let ingest = self.ingest { handle(detection, ingest) }
    }
  }

  private func handle(_ detection: Detection, _ ingest: MediaIngest) {
    do throws(FetchFailure) {
      if let finished = try ingest.handle(detection) { return take(finished) }
      if noteType(of: ingest) { resume() } else if let failure = state.failure { fail(failure) }
    } catch {
      noteType(of: ingest)
      fail(error)
    }
  }

  /// Resumes a paused transfer when the ingest can take more.
  private func resume() {
    guard isPaused else { return }
    isPaused = false
    guard let transfer, !transfer.resume() else { return }
    fail(state.failure ?? FetchFailure(reason: transfer.fault ?? .internal))
  }

  /// - Returns: false when a file of this type may not be that large.
  @discardableResult
  private func noteType(of ingest: MediaIngest) -> Bool {
    guard let type = ingest.type, state.type != type else { return true }
    tracker.note { $0.type = type }
    return goesOn(after: .recognised(type))
  }
}
