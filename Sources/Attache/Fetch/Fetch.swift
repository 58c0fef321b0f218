/// One URL on its way into the store, for everybody who waits for it.
///
/// It goes resolve, check, wait for a place, transfer, store; a redirect or a further try begins again at resolve. Each step that ends
/// elsewhere comes back with the `step` it was begun in, and is ignored when the fetch has gone on since.
///
/// `@unchecked Sendable`: confined to the loop's thread.
final class Fetch: AdmissionGuest, @unchecked Sendable {
  /// Redirects followed at most, as the design says; browsers follow 20, Apple's loading system 16.
  static let maximumHops = 5
  /// How long a transfer may bring nothing before it is set aside. Without it, 16 stalled URLs had 240 of 500 healthy pictures of their host fall back at 5 s.
  static let patience = Duration.milliseconds(500)

  private enum Place {
    case none, waiting, taken, aside
  }

  /// The URL that was asked for: what others join by.
  let key: String
  /// The hop at hand.
  private(set) var url: CheckedURL
  let course = FetchCourse()

  let engine: FetchEngine
  private(set) var step = 0
  private(set) var isOver = false
  private var visited: Set<String> = []
  private var tries = 0
  /// What the latest try came to.
  private var earlier: FetchFailure?
  /// Whether this is the one that tries if the origin is back.
  private var isProbe = false
  private var avoidsHTTP2 = false
  private var place = Place.none
  var isQueued = false
  private(set) var addresses: [IPAddress] = []
  /// What the HTTP cache knows of the hop.
  var reuse = Reuse()
  private var transfer: (any Transfer)?
  private var timer: TimerEntry?
  /// When the transfer brought something last, and when that is looked at.
  private var latestNews = MonotonicInstant.distantPast
  private var lookTimer: TimerEntry?

  private var intake: Intake?
  private var intakes = 0
  /// Whether the transfer waits until the intake takes more.
  private var isPaused = false
  private var verdict: ResponseVerdict?
  /// Of the latest response.
  private var status = 0
  private var failure: FetchFailure?
  private var entityTag: String?
  /// The whole body's length, when the origin says it.
  private var length: Int?
  private var received = 0

  init(_ url: CheckedURL, engine: FetchEngine) {
    self.url = url
    self.engine = engine
    key = url.text
  }

  // MARK: Waiters

  /// Has one wait for it, or be served with what it came to.
  func add(_ waiter: FetchWaiter) -> FetchCourse.Admission {
    waiter.fetch = self
    waiter.follow(course)
    return course.join(waiter)
  }

  /// Takes a waiter out; the fetch of the last one is given up.
  func remove(_ waiter: FetchWaiter) {
    if course.leave(waiter) { conclude(FetchFailure(reason: .cancelled)) }
  }

  // MARK: The road

  /// Begins, or begins again after a redirect or before a further try.
  func begin() {
    step += 1
    if visited.insert(url.text).inserted {
      (tries, earlier) = (0, nil)
      if let desk = engine.desk { return lookUp(at: desk) }
    }
    approach()
  }

  /// Finds out where the hop at hand leads.
  func approach() {
    guard reuse.isFresh || passesBreaker() else { return }
    let proxy = engine.proxy
    if let address = proxy == nil ? url.address : proxy?.address { return check([address]) }
    let (started, step, host) = (engine.loop.now, step, proxy?.host ?? url.host)
    engine.resolver.resolve(host) { [self, loop = engine.loop] result in
      loop.post { [self] in
        guard step == self.step, !isOver else { return }
        course.note { $0.timing.dns = started.duration(to: loop.now) }
        switch result {
        case .success(let addresses): check(addresses)
        case .failure(let failure):
          let failure = FetchFailure(failure, host: host)
          conclude(proxy == nil ? failure : FetchFailure(reason: .connectProxy, message: "the proxy: \(failure.message)"))
        }
      }
    }
  }

  /// Every address must pass: one bad one in an answer refuses the host. Behind a proxy they are the proxy's, which no gate judges.
  private func check(_ addresses: [IPAddress]) {
    do throws(Refusal) {
      if let proxy = engine.proxy {
        try proxy.check(url, at: addresses)
      } else {
        try engine.addressGate.check(answer: addresses, for: url)
      }
    } catch {
      return conclude(FetchFailure(isRedirected ? error.onRedirect : error))
    }
    self.addresses = addresses
    if reuse.isFresh, let entry = reuse.entry { return takeFenced(entry) }
    enter()
  }

  /// Waits for a place at the origin.
  func enter() {
    place = .waiting
    guard let awaited = engine.enter(self) else { return placeGranted() }
    course.beginWait(for: awaited, at: engine.loop.now)
  }

  /// There is a place at the origin: the transfer may start.
  func placeGranted() {
    place = .taken
    course.endWait(at: engine.loop.now)
    guard !isOver else { return leavePlace() }
    // They may have given up, and not been taken out yet.
    guard course.isAwaited else { return conclude(FetchFailure(reason: .cancelled)) }
    // It may have opened while this one waited for its place.
    guard passesBreaker() else { return }
    tries += 1
    course.note { $0.attempts += 1 }
    (verdict, failure) = (nil, nil)
    if let desk = engine.desk { reuse.asked = desk.now }
    do throws(TransportError) {
      let request = TransferRequest(
        url: url, addresses: addressesInTurn, proxy: engine.proxy, resumption: resumption, conditions: conditions,
        avoidsHTTP2: avoidsHTTP2, connectTimeout: budget / 3)
      transfer = try engine.transport.begin(request, for: self)
      latestNews = engine.loop.now
      lookForNews(at: latestNews.advanced(by: Self.patience))
    } catch {
      conclude(FetchFailure(reason: .internal, message: "\(error)"))
    }
  }

  private func lookForNews(at instant: MonotonicInstant) {
    lookTimer = engine.loop.schedule(at: instant) { [self] in lookForNews() }
  }

  /// Has a transfer that brings nothing keep nobody from its origin.
  private func lookForNews() {
    lookTimer = nil
    guard place == .taken else { return }
    let (now, due) = (engine.loop.now, latestNews.advanced(by: Self.patience))
    guard now >= due else { return lookForNews(at: due) }
    if engine.setAside(self) { place = .aside } else { lookForNews(at: now.advanced(by: Self.patience)) }
  }

  /// Asks the circuit breaker; where it refuses, the fetch ends, with what its own latest try came to if there was one.
  private func passesBreaker() -> Bool {
    guard !isProbe else { return true }
    switch engine.breaker.admit(to: url.origin, at: engine.loop.now) {
    case .pass: return true
    case .probe:
      isProbe = true
      return true
    case .refuse:
      conclude(earlier ?? FetchFailure(breakerFor: url.origin))
      return false
    }
  }

  /// Tells the circuit breaker what the exchange says of its origin.
  private func note(_ sign: OriginSign?) {
    if let sign {
      engine.breaker.note(sign, of: url.origin, at: engine.loop.now, isProbe: isProbe)
    } else if isProbe {
      engine.breaker.giveUpProbe(of: url.origin, at: engine.loop.now)
    }
    isProbe = false
  }

  /// The addresses, with another one first at each try: libcurl 7.88 spends the whole time for connecting on the first of a family where that swallows
  /// packets.
  private var addressesInTurn: [IPAddress] {
    let turn = (tries - 1) % max(1, addresses.count)
    return Array(addresses[turn...] + addresses[..<turn])
  }

  /// The time that is left to the one who can wait longest.
  var budget: Duration {
    course.latestDeadline.map { engine.loop.now.duration(to: $0) } ?? .zero
  }

  var isRedirected: Bool {
    visited.count > 1
  }

  private func follow(_ location: [UInt8]) {
    guard visited.count <= Self.maximumHops else {
      return conclude(FetchFailure(reason: .httpRedirect, message: "more than \(Self.maximumHops) redirects"))
    }
    do throws(Refusal) {
      url = try engine.gate.redirect(to: location, from: url)
    } catch {
      return conclude(FetchFailure(error))
    }
    guard !visited.contains(url.text) else {
      return conclude(FetchFailure(reason: .httpRedirect, message: "the redirects go round in a circle"))
    }
    startOver()
    begin()
  }

  private func tryAgain(after failure: FetchFailure, asked: Duration?) {
    let now = engine.loop.now
    guard
      let instant = engine.retryPolicy.next(
        after: tries, now: now, budgetEnds: now.advanced(by: budget), asked: asked, jitter: engine.loop.machine.randomFraction)
    else { return conclude(failure) }
    earlier = failure
    if resumption == nil { startOver() }
    timer = engine.loop.schedule(at: instant) { [self] in
      timer = nil
      begin()
    }
  }

  /// Where the body may be taken up again: with a strong validator, and an origin that does not decline ranges (RFC 9110, 13.1.5).
  private var resumption: (offset: Int, validator: String)? {
    guard received > 0, let entityTag, entityTag.hasPrefix("\"") else { return nil }
    return (received, entityTag)
  }

  /// What asks for the file only if it has changed; never of a part.
  private var conditions: [String] { resumption == nil ? reuse.conditions : [] }

  private func startOver() {
    guard received > 0 || intake != nil else { return }
    (received, length, entityTag) = (0, nil, nil)
    intake = nil
  }

  // MARK: The end

  /// Ends without a word, since the engine ends.
  func abandon() {
    isOver = true
    _ = course.end()
    if let timer { engine.loop.cancel(timer) }
    if let lookTimer { engine.loop.cancel(lookTimer) }
    intake = nil
  }

  private func conclude(_ failure: FetchFailure) {
    guard close() else { return }
    intake = nil
    engine.conclude(self, failure)
  }

  /// Lets go of everything but the file.
  ///
  /// - Returns: false when it was over before.
  func close() -> Bool {
    guard !isOver else { return false }
    isOver = true
    if let timer { engine.loop.cancel(timer) }
    transfer?.cancel()
    transfer = nil
    leavePlace()
    if isProbe { note(nil) }
    return true
  }

  private func leavePlace() {
    if let lookTimer { engine.loop.cancel(lookTimer) }
    lookTimer = nil
    switch place {
    case .none: break
    case .waiting: engine.giveUpPlace(self)
    case .taken: engine.leave(origin: url.origin, isAside: false)
    case .aside: engine.leave(origin: url.origin, isAside: true)
    }
    place = .none
  }
}

// MARK: The transfer's news

extension Fetch: TransferOwner {
  func transferReceivedHead(_ head: ResponseHead) -> Bool {
    let verdict = Acceptance.judge(
      head, resumingFrom: resumption?.offset ?? 0, validator: resumption?.validator, isConditional: !conditions.isEmpty)
    self.verdict = verdict
    (status, latestNews) = (head.status, engine.loop.now)
    if let desk = engine.desk { reuse.hear(head, at: desk.now) }
    noteHead(head)
    if engine.proxy != nil, head.status == 407 {
      failure = FetchFailure(proxyStatus: 407)
      return false
    }
    note(OriginSign(status: head.status))
    guard case .body(let length, let resumes) = verdict else {
      // An unwanted body is not waited for: without one, the connection serves again.
      return verdict == .unchanged || head.contentLengths == ["0"] && head.transferEncodings.isEmpty
    }
    if !resumes { startOver() }
    if resumes, let known = self.length, known != length {
      failure = FetchFailure(reason: .httpFraming)
      return false
    }
    self.length = length
    entityTag = head.acceptsRanges ? CacheEntry.validator(head.entityTag) : nil
    return lengthIsAllowed
  }

  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    guard case .body = verdict else {
      if verdict == nil { failure = FetchFailure(reason: .httpProtocol) }
      return .stop
    }
    let intake = openIntake()
    guard !intake.isFull else {
      isPaused = true
      return .pause
    }
    // A part in chunks may bring more than it says.
    let expected = length.map { max(0, $0 - received) } ?? bytes.count
    received += bytes.count
    latestNews = engine.loop.now
    course.note { $0.bytes = received }
    guard lengthIsAllowed else { return .stop }
    do throws(FetchFailure) {
      try unsafe intake.take(bytes, expecting: expected)
    } catch {
      failure = error
    }
    noteType(of: intake)
    askDetector(about: intake)
    return failure == nil && lengthIsAllowed ? .take : .stop
  }

  func transferEnded(_ end: TransferEnd) {
    noteTimes(end.times)
    (transfer, isPaused) = (nil, false)
    avoidsHTTP2 = avoidsHTTP2 || end.isDoubtful
    // The head's sign has been noted when it came.
    if verdict == nil { note(failure == nil ? OriginSign(end) : nil) }
    leavePlace()
    guard !isOver else { return }
    if let failure { return conclude(failure) }
    if let refusal = end.refusal { return conclude(FetchFailure(isRedirected ? refusal.onRedirect : refusal)) }
    switch verdict {
    case .redirect(let location): follow(location)
    case .refuse(let reason): conclude(FetchFailure(reason, status: status))
    case .retry(let reason): tryAgain(after: FetchFailure(reason, status: status, tries: tries), asked: end.retryAfter)
    case .unchanged where end.failure == nil: takeUnchanged()
    case .body where end.failure == nil && (length ?? received) == received: finish()
    case .unchanged, .body, nil: broken(end)
    }
  }

  /// Goes on when the intake takes more.
  private func resume() {
    guard isPaused else { return }
    isPaused = false
    guard let transfer, !transfer.resume() else { return }
    conclude(failure ?? FetchFailure(reason: transfer.fault ?? .internal))
  }

  private func broken(_ end: TransferEnd) {
    let reason = end.failure ?? .httpTruncated
    let failure = FetchFailure(reason, of: end)
    // What a peer itself declined in the handshake, or a proxy with its status, it would decline again.
    let isDeclined = !end.isUnanswered && (reason == .tlsHandshake || reason == .connectProxy)
    if reason.isRetryable(status: nil), !isDeclined { tryAgain(after: failure, asked: nil) } else { conclude(failure) }
  }

  private func noteHead(_ head: ResponseHead) {
    noteTimes(transfer?.times, status: head.status)
  }

  private func noteTimes(_ times: TransferTimes?, status: Int? = nil) {
    course.note { record in
      if let status { record.status = status }
      guard let times else { return }
      record.timing.connect = times.connect
      record.timing.tls = times.tls
      record.timing.firstByte = times.firstByte
    }
  }

  /// Whether the body is within its limit, as far as its length and its kind are known; sets `failure` if not.
  private var lengthIsAllowed: Bool {
    let limits = engine.configuration.limits
    let size = max(length ?? 0, received)
    let type = intake?.type
    guard size > type.map({ limits[$0.kind] }) ?? limits.largest else { return true }
    failure =
      type.map { FetchFailure(tooLarge: $0.kind, limits: limits) }
      ?? FetchFailure(reason: .sizeLimit, message: "the file is larger than \(limits.largest) bytes; shrink it or raise --limits")
    return false
  }
}

// MARK: The file

extension Fetch {
  private func openIntake() -> Intake {
    if let intake { return intake }
    let intake = engine.makeIntake()
    intakes += 1
    self.intake = intake
    return intake
  }

  /// Ends the file, all of which has come.
  private func finish() {
    let intake = openIntake()
    do throws(FetchFailure) {
      if let file = try intake.finish() { takeStored(file) } else { askDetector(about: intake) }
    } catch {
      noteType(of: intake)
      conclude(error)
    }
  }

  private func askDetector(about intake: Intake) {
    guard let question = intake.takeQuestion() else { return }
    engine.ask(question, of: course) { [self, number = intakes] detection in
      // What is said of a body that was given up since counts no more.
      if !isOver, number == intakes, let intake = self.intake { hear(detection, intake) }
    }
  }

  private func hear(_ detection: Detection, _ intake: Intake) {
    do throws(FetchFailure) {
      if let file = try intake.hear(detection) { return takeStored(file) }
      noteType(of: intake)
      if lengthIsAllowed { resume() } else if let failure { conclude(failure) }
    } catch {
      noteType(of: intake)
      conclude(error)
    }
  }

  private func noteType(of intake: Intake) {
    if let type = intake.type { course.note { $0.type = type } }
  }

  private func takeStored(_ file: StoredFile) {
    intake = nil
    guard close() else { return engine.letGo(of: file) }
    keepEntry(of: file, isRefreshed: false)
    engine.keep(file, of: self)
    engine.handOut(file, to: course.end(with: file))
  }
}
