internal import Glibc
internal import Synchronization

/// The host's side of one fetcher process. It sends requests, receives replies, and starts the
/// process when it is first needed and again after it has ended.
///
/// Requests for a URL in flight join. When a process ends, its open requests are sent to the next
/// one. A request fails with ``Reason/fetchCrashed`` if two processes were working on it when they
/// ended, or if it was in flight when many processes ended.
final class FetcherLink: FetchService {
  private typealias Request = FetcherRequests.Request

  private struct State: ~Copyable {
    /// nil while there is no process.
    var stream: FrameStream?
    /// Whether a start is in progress or scheduled.
    var isStarting = false
    /// The number of processes that have been started.
    var generation = 0
    var requests = FetcherRequests()
    /// Cancelled requests that the process has not confirmed.
    var leaving: [UInt64: (place: Int, done: @Sendable () -> Void)] = [:]
    var counts: [UInt64: @Sendable (BreakerStates) -> Void] = [:]
    var closing: [@Sendable (String?) -> Void] = []
    /// Whether a flush is posted, and whether a flush with low priority is.
    var isFlushing = false
    var isFlushingLater = false
    /// Whether the loop waits until the connection is writable; nil while the loop does not watch
    /// the connection.
    var awaitsRoom: Bool?
    /// Whether the loop of the process is running, and whether the process has returned a result.
    var isReady = false
    var hasAnswered = false
    /// When the process was started.
    var start = MonotonicInstant.distantPast
    var starts = FetcherStarts()
    /// nil while nothing checks the process.
    var silence: FetcherSilence?
    var places = FetchPlaces()
    /// Why the last process could not start.
    var message = ""
    var isOver = false
  }

  /// Actions that run after the lock has been released.
  private typealias Afterwards = [() -> Void]

  /// The maximum number of unsent bytes: far more than the requests that a run's window admits.
  private static let maximumUnsent = 256 << 20
  private static let maximumLosses = 3

  private let number: Int
  private let crew: FetcherCrew
  private let state = Mutex(State())

  private var joins: Bool { crew.memory.configuration.cache != .off }
  private var store: AttachmentStore { crew.memory.store }

  init(_ number: Int, of crew: FetcherCrew) {
    (self.number, self.crew) = (number, crew)
  }

  // MARK: What is asked

  func fetch(_ url: CheckedURL, for waiter: FetchWaiter) {
    // A file that was fetched but not seen recently is looked up on the loop, because a disk may
    // block.
    guard let (file, _) = crew.memory.file(for: url.text) else { return ask(url, for: waiter) }
    crew.loop.post { [self] in
      guard waiter.isOpen, !crew.memory.answerAfterLook(url, for: waiter, with: file) else { return }
      ask(url, for: waiter)
    }
  }

  private func ask(_ url: CheckedURL, for waiter: FetchWaiter) {
    enum Way { case joined, asked, refused }
    let way = state.withLock { state -> Way in
      guard !state.isOver else { return .refused }
      if joins, let number = state.requests.number(for: url.text), let request = state.requests[number] {
        join(waiter, request, number, &state)
        return .joined
      }
      let place = state.places.take { crew.nextPlaces() }
      let request = Request(url: url, place: place, deadline: waiter.deadline, waiters: [waiter], prunes: pruneCount)
      add(request, &state)
      return .asked
    }
    switch way {
    case .joined: waiter.note { $0.cache = .joined }
    case .asked: break
    case .refused: failAll([waiter], Self.broken)
    }
  }

  private var pruneCount: UInt64 { store.prunes.load(ordering: .sequentiallyConsistent) }

  /// Sends a request, or starts a process that it will be sent to.
  private func add(_ request: Request, _ state: inout State) {
    let number = crew.nextNumber()
    for waiter in request.waiters {
      waiter.request = number
      waiter.follow(SharedProgress(memory: crew.shared, fetch: number, place: request.place))
    }
    state.requests.add(request, as: number, joins: joins)
    guard state.stream != nil else { return start(&state, after: state.starts.pause) }
    send(request, number, &state)
    // With other requests in flight, this one is sent with other gathered frames in a single system
    // call.
    if state.requests.count > 1 { flushSoon(&state) } else { flush(&state) }
  }

  private func join(_ waiter: FetchWaiter, _ request: Request, _ number: UInt64, _ state: inout State) {
    var request = request
    waiter.request = number
    waiter.follow(SharedProgress(memory: crew.shared, fetch: number, place: request.place))
    request.waiters.append(waiter)
    if waiter.deadline > request.deadline {
      request.deadline = waiter.deadline
      state.stream?.gather { FetcherFrame.append(.extend(number, deadline: waiter.deadline), to: &$0) }
      flushSoon(&state)
    }
    state.requests[number] = request
  }

  func leave(_ waiter: FetchWaiter, done: @escaping @Sendable () -> Void) {
    let isOut = state.withLock { state in
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
      state.leaving[number] = (request.place, done)
      state.stream?.gather { FetcherFrame.append(.cancel(number), to: &$0) }
      flushLater(&state)
      return false
    }
    if isOut { done() }
  }

  func countOrigins(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    let isIdle = state.withLock { state in
      // Without a process there are no origins. A process that starts will reply.
      guard state.stream != nil || state.isStarting else { return true }
      let number = crew.nextNumber()
      state.counts[number] = answer
      state.stream?.gather { FetcherFrame.append(.count(number), to: &$0) }
      flushSoon(&state)
      return false
    }
    if isIdle { answer(BreakerStates()) }
  }

  func closeCache(_ done: @escaping @Sendable (_ warning: String?) -> Void) {
    let isIdle = state.withLock { state in
      guard state.stream != nil else { return true }
      state.closing.append(done)
      state.stream?.gather { FetcherFrame.append(.close, to: &$0) }
      flushSoon(&state)
      return false
    }
    if isIdle { done(nil) }
  }

  func shutdown() {
    state.withLock { $0.isOver = true }
    crew.loop.post { [self] in
      let stream = state.withLock { $0.stream.take() }
      if let stream { crew.loop.unwatch(stream.socket) }
    }
  }

  private func send(_ request: Request, _ number: UInt64, _ state: inout State) {
    state.stream?.gather {
      FetcherFrame.append(.fetch(number, place: UInt32(request.place), deadline: request.deadline, url: request.url.text), to: &$0)
    }
  }

  /// Sends what has been gathered. The loop detects the end of the connection.
  private func flush(_ state: inout State) {
    guard (try? state.stream?.flush()) != nil, let unsent = state.stream?.unsentBytes, unsent > 0 else { return }
    // A process that reads nothing is treated like one that does not respond.
    if unsent > Self.maximumUnsent { return crew.loop.post { [self] in ended() } }
    flushSoon(&state)
  }

  /// Posts a flush to the loop.
  private func flushSoon(_ state: inout State) {
    guard !state.isFlushing else { return }
    state.isFlushing = true
    crew.loop.post { [self] in flushNow() }
  }

  /// Posts a flush to the loop, to run when the loop is not behind with deadlines.
  private func flushLater(_ state: inout State) {
    guard !state.isFlushingLater else { return }
    state.isFlushingLater = true
    crew.loop.post { [self] in
      crew.loop.addChore { [self] in flushNow() }
    }
  }

  private func flushNow() {
    state.withLock { state in
      (state.isFlushing, state.isFlushingLater) = (false, false)
      _ = try? state.stream?.flush()
    }
    watchStream()
  }

  // MARK: On the loop

  private func start(_ state: inout State, after pause: Duration) {
    guard !state.isStarting, !state.isOver else { return }
    state.isStarting = true
    crew.loop.post { [self] in
      guard pause > .zero else { return start() }
      _ = crew.loop.schedule(at: crew.loop.now.advanced(by: pause)) { [self] in start() }
    }
  }

  private func start() {
    guard let (own, other) = try? FrameStream.pair() else { return startLater() }
    defer { close(other) }
    let order = state.withLock { state in
      state.generation += 1
      return FetcherParent.Order(
        number: number, count: crew.count, generation: state.generation, temporaryName: store.temporary.name,
        needsRoots: state.requests.needsRoots)
    }
    crew.shared.forgetWork(of: number)
    let isStarted = crew.parent.start(order, connection: other)
    // The parent cannot take an order at the moment, or is gone. The end of the parent is detected
    // elsewhere.
    guard isStarted else {
      close(own)
      return startLater()
    }
    state.withLock { state in
      state.isStarting = false
      guard !state.isOver else {
        close(own)
        return
      }
      state.stream = FrameStream(own)
      state.awaitsRoom = nil
      (state.isReady, state.hasAnswered, state.start) = (false, false, crew.loop.now)
      for (number, request) in state.requests.inOrder {
        state.requests[number]?.prunes = pruneCount
        send(request, number, &state)
      }
      for number in state.counts.keys { state.stream?.gather { FetcherFrame.append(.count(number), to: &$0) } }
      flush(&state)
    }
    watchStream()
    lookAfter()
  }

  /// Retries later: the start failed for lack of a descriptor, for example, and others may be
  /// released.
  private func startLater() {
    guard !state.withLock({ $0.isOver }) else { return }
    _ = crew.loop.schedule(at: crew.loop.now.advanced(by: FetcherStarts.longestPause)) { [self] in start() }
  }

  private func watchStream() {
    let (socket, isUnsent, isNews) = state.withLock { state in
      let isUnsent = state.stream?.unsentBytes ?? 0 > 0
      defer { state.awaitsRoom = isUnsent }
      return (state.stream?.socket, isUnsent, state.awaitsRoom != isUnsent)
    }
    guard let socket, isNews else { return }
    crew.loop.watch(socket, for: isUnsent ? [.readable, .writable] : .readable) { [self] _, readiness in
      if readiness.contains(.writable) {
        state.withLock { flush(&$0) }
        watchStream()
      }
      if readiness != .writable { receive() }
    }
  }

  /// - Returns: whether bytes were received.
  @discardableResult
  private func receive() -> Bool {
    var afterwards: Afterwards = []
    let (fault, isNews) = state.withLock { state -> (FrameStream.Fault?, Bool) in
      guard var stream = state.stream.take() else { return (nil, false) }
      var (fault, isNews): (FrameStream.Fault?, Bool) = (nil, false)
      do throws(FrameStream.Fault) {
        isNews = try stream.receive { bytes throws(FrameStream.Fault) in
          guard let reply = try? FetcherFrame.reply(bytes) else { throw .invalid }
          try take(reply, &state, &afterwards)
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

  private func take(_ reply: FetcherReply, _ state: inout State, _ afterwards: inout Afterwards) throws(FrameStream.Fault) {
    switch reply {
    case .ready(let missing):
      state.isReady = true
      state.starts.noteReady()
      if !missing.isEmpty { afterwards.append { [crew] in crew.tellOnce(of: missing) } }
    case .fetched(let result):
      state.hasAnswered = true
      state.starts.noteAnswer()
      let added = result.added
      afterwards.append { [store] in store.note(addedByGuests: added) }
      guard let request = state.requests[result.fetch] else { return }
      if case .stored(let name, let size, _) = result.end, size < 1 || size > crew.memory.configuration.limits[name.type.kind] {
        throw .invalid
      }
      state.requests.remove(result.fetch)
      afterwards.append { [self] in finish(request, result) }
    case .left(let number):
      guard let (place, done) = state.leaving.removeValue(forKey: number) else { return }
      state.places.give(back: place)
      afterwards.append(done)
    case .counted(let number, let states):
      guard let answer = state.counts.removeValue(forKey: number) else { return }
      afterwards.append { answer(states) }
    case .closed(let warning):
      let closing = state.closing
      state.closing = []
      for done in closing { afterwards.append { done(warning.isEmpty ? nil : warning) } }
    case .failed(let message): state.message = message
    }
  }

  private func finish(_ request: Request, _ result: FetcherResult) {
    switch result.end {
    case .failed(let failure):
      for waiter in request.waiters { waiter.follow(result.progress) }
      giveBack(request.place)
      failAll(request.waiters, failure)
    case .stored(let name, let size, let keptUntil):
      let file = StoredFile(name, size: size)
      guard store.takeOver(file, sincePrune: request.prunes) else { return askAgain(request) }
      for waiter in request.waiters { waiter.follow(result.progress) }
      giveBack(request.place)
      if joins, let keptUntil { crew.memory.keep(file, for: request.url.text, until: keptUntil == .distantFuture ? nil : keptUntil) }
      crew.memory.handOut(file, to: request.waiters)
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
    state.withLock { state in
      request.waiters.removeAll { !$0.isOpen }
      guard !request.waiters.isEmpty, !state.isOver else { return state.places.give(back: request.place) }
      request.prunes = pruneCount
      add(request, &state)
    }
  }

  private func giveBack(_ place: Int) {
    state.withLock { $0.places.give(back: place) }
  }

  private func failAll(_ waiters: [FetchWaiter], _ failure: FetchFailure) {
    for waiter in waiters { waiter.complete(.failure(failure)) }
  }

  /// Removes all requests.
  ///
  /// - Returns: their waiters.
  private func removeAll(_ state: inout State) -> [FetchWaiter] {
    let requests = state.requests.removeAll()
    for request in requests { state.places.give(back: request.place) }
    return requests.flatMap(\.waiters)
  }

  // MARK: The end of a process

  /// Called when the parent reports the end of a process.
  func hasEnded(_ generation: Int) {
    // The replies that it sent before are read first, up to the end of the connection.
    while state.withLock({ $0.generation == generation && $0.stream != nil }), receive() {}
    if state.withLock({ $0.generation == generation && $0.stream != nil }) { ended() }
  }

  /// Called when the process is gone or unusable. Another process takes over.
  private func ended() {
    var afterwards: Afterwards = []
    let generation = state.withLock { state -> Int? in
      guard let stream = state.stream.take() else { return nil }
      crew.loop.unwatch(stream.socket)
      for (place, done) in state.leaving.values {
        state.places.give(back: place)
        afterwards.append(done)
      }
      for done in state.closing { afterwards.append { done(nil) } }
      (state.leaving, state.closing) = ([:], [])
      let age = state.start.duration(to: crew.loop.now)
      let mayStart = state.starts.noteEnd(age: age, hasAnswered: state.hasAnswered, wasReady: state.isReady)
      if state.isReady { blame(&state, &afterwards) } else if !mayStart { giveUpStarting(&state, &afterwards) }
      if !state.requests.isEmpty || !state.counts.isEmpty { start(&state, after: state.starts.pause) }
      return state.generation
    }
    guard let generation else { return }
    crew.parent.end(number, generation)
    store.temporary.removeFiles(numbered: FetcherParent.Order.numbers(of: number, generation))
    for action in afterwards { action() }
  }

  /// Fails the requests that have ended too many processes, as far as that is known.
  private func blame(_ state: inout State, _ afterwards: inout Afterwards) {
    for request in state.requests.noteEnd(suspect: crew.shared.fetchAtWork(of: number)) {
      state.places.give(back: request.place)
      afterwards.append { [self] in failAll(request.waiters, FetchFailure(reason: .fetchCrashed)) }
    }
  }

  /// Fails all requests when no process can be started. No request is the cause.
  private func giveUpStarting(_ state: inout State, _ afterwards: inout Afterwards) {
    let waiters = removeAll(&state)
    let cause = state.message.isEmpty ? "raise the limit on processes or free memory" : state.message
    var failure = FetchFailure(reason: .internal, message: "no fetcher can be started: \(cause)")
    failure.isOfMachine = true
    afterwards.append { [self, failure] in failAll(waiters, failure) }
  }

  /// Fails all requests, since no process can be started any more.
  func giveUp() {
    var waiters: [FetchWaiter] = []
    var afterwards: Afterwards = []
    state.withLock { state in
      waiters = removeAll(&state)
      for (_, done) in state.leaving.values { afterwards.append(done) }
      for answer in state.counts.values { afterwards.append { answer(BreakerStates()) } }
      for done in state.closing { afterwards.append { done(nil) } }
      (state.leaving, state.counts, state.closing) = ([:], [:], [])
      if let stream = state.stream.take() { crew.loop.unwatch(stream.socket) }
      state.isOver = true
    }
    for action in afterwards { action() }
    failAll(waiters, Self.broken)
  }

  private static var broken: FetchFailure {
    var failure = FetchFailure(reason: .internal, message: "the process that starts fetchers has ended; start attache again")
    failure.isOfMachine = true
    return failure
  }

  // MARK: Silence

  /// Starts to ask the process regularly whether its loop is running.
  private func lookAfter() {
    let begins = state.withLock { state in
      defer { state.silence = state.silence ?? FetcherSilence(since: crew.loop.now) }
      return state.silence == nil
    }
    if begins { lookLater() }
  }

  private func lookLater() {
    _ = crew.loop.schedule(at: crew.loop.now.advanced(by: FetcherSilence.interval)) { [self] in look() }
  }

  private func look() {
    let verdict = state.withLock { state in
      if state.stream == nil || state.isOver { state.silence = nil }
      return state.silence?.look(at: crew.loop.now)
    }
    switch verdict {
    case .ask: countOrigins { [self] _ in state.withLock { $0.silence?.noteAnswer() } }
    case .end: ended()
    case .wait: break
    case nil: return
    }
    lookLater()
  }
}
