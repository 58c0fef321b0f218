internal import Attache

/// The state of a deliverer: the results that it holds, those at the sender, and the answers for
/// the queue. It makes decisions; ``Deliverer`` carries them out.
struct DelivererState: Sendable {
  /// What other threads report to the deliverer's.
  struct News: Sendable {
    var isStopped = false
    var isCancelled = false
    /// Why leases could not be renewed.
    var failure: QueueError?
  }

  /// A result at the sender.
  private struct Sent: Sendable {
    var delivery: Delivery
    var at: MonotonicInstant
    /// ``Rejections/count`` when it was sent.
    var rejections: Int
  }

  /// The maximum total length of the held lines, in bytes. The first line is taken whatever its
  /// length.
  static let maximumBytes = 16_000_000

  private let configuration: DelivererConfiguration
  /// Results that are held but not sent, in the order to send them.
  private var waiting: ArraySlice<Delivery> = []
  private var unanswered: [LeaseToken: Sent] = [:]
  /// Whether a thread is giving results to the sender.
  private var isSending = false
  /// Dispositions to store in the queue.
  private(set) var settled: [SettledDelivery] = []
  /// An answered result is finished, and its lease is held until the queue has its disposition.
  var leases = HeldLeases()
  private(set) var result = DelivererResult()
  var news = News() { didSet { hasNews = true } }
  /// Whether anything has changed since the deliverer's thread last took the news.
  var hasNews = false

  /// Whether the last claim found no undelivered results and no undecided payloads.
  private var isEmpty = false

  private var pausing: DeliveryPause
  /// Whether any sender of this run has answered. A sender that never works, for example because of
  /// a wrong path, is no sign of a bad payload.
  private var hasAnswered = false

  private var rate: DeliveryRate
  private var rejections: Rejections
  private var givingUp: GivingUp
  /// Whether an operator has paused the delivery (``QueueAdministration/pause(_:why:)``).
  private var isPausedByOperator = false
  private(set) var answers = AnswerLedger()
  /// Messages for the user.
  private var messages: [String] = []

  private(set) var stoppedAt: MonotonicInstant?
  /// Since when the first payload in the order has blocked all others.
  private(set) var blockedSince: MonotonicInstant?

  init(_ configuration: DelivererConfiguration) {
    self.configuration = configuration
    pausing = DeliveryPause(first: configuration.pause)
    rate = DeliveryRate(maximum: configuration.rate)
    rejections = Rejections(isOnce: configuration.isOnce)
    givingUp = GivingUp(after: configuration.giveUpAfter)
  }

  /// The maximum number of results at the sender: fewer while the service seems to reject all.
  private var jobs: Int { rejections.isOfAll ? min(rejections.probes, configuration.jobs) : configuration.jobs }

  var unansweredCount: Int { unanswered.count }

  /// When the sender got a result that it has not answered; nil for any other.
  func sent(_ token: LeaseToken) -> MonotonicInstant? { unanswered[token]?.at }

  /// Returns the news. A failure is returned once.
  mutating func takeNews() -> News {
    let taken = news
    news.failure = nil
    hasNews = false
    return taken
  }

  // MARK: Answers

  /// Handles an answer.
  ///
  /// - Parameters:
  ///   - wall: the wall clock time since 1970.
  ///   - jitter: returns a random fraction in 0…1. Called only when one is needed.
  mutating func note(_ token: LeaseToken, _ answer: DeliveryAnswer, at now: MonotonicInstant, wall: Duration, jitter: () -> Double) {
    // A second answer to a result is ignored.
    guard let sent = unanswered.removeValue(forKey: token) else { return }
    let delivery = sent.delivery
    let wasAlone = leases.holdsSuspect
    leases.finish(token)
    rate.noteAnswer(at: now)
    if case .rejected = answer {} else { rejections.noteOther(token) }
    switch answer {
    case .delivered(let status):
      count(status.map { "status \($0)" } ?? "ok", to: token, nil, at: now)
      noteAcceptance(sent, at: now)
      end(token, .delivered, status)
    case .partlyDelivered(let status):
      count(status, to: token, .partlyRefused, at: now)
      noteAcceptance(sent, at: now)
      result.partlyRefused += 1
      end(token, .delivered, status)
    case .dropped(let reason):
      noteAnswer()
      givingUp.noteAcceptance(at: now)
      count(reason, to: token, nil, at: now)
      drop(token, reason, at: now)
    case .rejected(let reason):
      hasAnswered = true
      count(reason, to: token, nil, at: now)
      noteRejection(delivery, reason, at: now)
    case .retry(let span, let reason):
      noteAnswer()
      if let status = givingUp.end(of: delivery, wall: wall) {
        count(reason, to: token, .givenUp, at: now)
        return end(token, status, reason)
      }
      count(reason, to: token, .retried, at: now)
      let delay = max(span ?? .zero, delivery.retryDelay(wall: wall, jitter: jitter()))
      giveBack(token, after: delay, tried: reason, counts: givingUp.counts(at: now))
    case .senderEnded(let reason) where hasAnswered:
      count(reason, to: token, .retried, at: now)
      result.retried += 1
      settled.append(SettledDelivery(token, .senderEnded(isAlone: wasAlone, tried: reason)))
      keepOrder()
    case .senderEnded(let reason):
      count(reason, to: token, .retried, at: now)
      giveBack(token, after: .zero, tried: reason)
    case .unanswered: giveBack(token, after: .zero, tried: nil)
    case .refused(let reason):
      giveBack(token, after: .zero, tried: nil)
      pause(reason, at: now)
    }
  }

  /// Handles the message that the service's quota is used up.
  mutating func slowDown(at now: MonotonicInstant) {
    guard let limit = rate.noteRefusal(at: now, inFlight: unanswered.count) else { return }
    messages.append("the service's quota is used up: at most \(Int(limit)) payloads per second are sent for the next minute")
  }

  private mutating func count(_ text: String, to token: LeaseToken, _ failure: AnswerLedger.Failure?, at now: MonotonicInstant) {
    if let message = answers.note(text, to: token, failure, at: now) { messages.append(message) }
  }

  private mutating func tell(_ reason: String, to token: LeaseToken, _ failure: AnswerLedger.Failure, at now: MonotonicInstant) {
    if let message = answers.tell(reason, to: token, failure, at: now) { messages.append(message) }
  }

  private mutating func noteAcceptance(_ sent: Sent, at now: MonotonicInstant) {
    givingUp.noteAcceptance(at: now)
    let (atFault, again) = rejections.noteAcceptance(sent: sent.rejections, at: now)
    noteAnswer()
    for rejected in atFault { drop(rejected.delivery.token, rejected.reason, at: now) }
    sendAgain(again)
  }

  private mutating func noteRejection(_ delivery: Delivery, _ reason: String, at now: MonotonicInstant) {
    guard stoppedAt == nil else { return giveBack(delivery.token, after: .zero, tried: nil) }
    switch rejections.note(delivery, reason, at: now) {
    case .held: break
    case .atFault: drop(delivery.token, reason, at: now)
    case .pause:
      if pause != nil, !pausing.isOn(at: now) { rejections.noteVainProbes() }
      while let first = rejections.takeSurplus(beyond: Self.maximumBytes) { giveBack(first, after: .seconds(600), tried: nil) }
      pause(
        "\(reason); \(Rejections.limit) payloads in a row were refused: check the flags of the receiver", at: now)
    }
  }

  private mutating func noteNothingElse(at now: MonotonicInstant, isAtEnd: Bool) {
    let (atFault, waits) = rejections.noteNothingElse(at: now, isAtEnd: isAtEnd)
    for rejected in atFault { drop(rejected.delivery.token, rejected.reason, at: now) }
    if !atFault.isEmpty { hasNews = true }
    guard let waits else { return }
    let reason = PrintableText.of(waits.reason)
    messages.append(
      "payload \(waits.delivery.token.id) waits until the endpoint accepts another one, and is sent again meanwhile: \(reason)")
  }

  private mutating func drop(_ token: LeaseToken, _ reason: String, at now: MonotonicInstant) {
    tell(reason, to: token, .dropped, at: now)
    end(token, .dropped, reason)
  }

  /// Sends held results before the others.
  private mutating func sendAgain(_ deliveries: [Delivery]) {
    for delivery in deliveries { leases.resume(delivery.token) }
    waiting = deliveries + waiting
  }

  /// ``Rejections/leftovers``, when nothing is on its way.
  var leftovers: Int? { stoppedAt == nil && unanswered.isEmpty && waiting.isEmpty ? rejections.leftovers : nil }

  private mutating func giveBackHeld() {
    for rejected in rejections.takeHeld() { giveBack(rejected.delivery.token, after: .zero, tried: nil) }
  }

  /// Returns the messages for the user since the last call.
  mutating func takeMessages() -> [String] {
    defer { messages = [] }
    return messages
  }

  /// Adds the messages about failures that were not told yet.
  ///
  /// - Parameter isOver: whether the run ends.
  mutating func tellFailures(at now: MonotonicInstant, isOver: Bool = false) {
    messages += answers.due(at: now, isOver: isOver)
    if isOver { result.answers = answers.counts }
  }

  private mutating func noteAnswer() {
    hasAnswered = true
    if !pausing.isOfMachine, !rejections.isOfAll { endPause() }
  }

  private mutating func end(_ token: LeaseToken, _ status: DeliveryStatus, _ answer: String?) {
    result.ended[status, default: 0] += 1
    settled.append(SettledDelivery(token, .over(status, answer: answer)))
  }

  private mutating func giveBack(_ token: LeaseToken, after delay: Duration, tried: String?, counts: Bool = false) {
    if tried != nil { result.retried += 1 }
    settled.append(SettledDelivery(token, .returned(after: delay, tried: tried, counts: counts)))
    keepOrder()
  }

  /// In order, gives back the waiting results, because a result that is sent again precedes them.
  private mutating func keepOrder() {
    if configuration.isOrdered { giveBackWaiting() }
  }

  private mutating func giveBackWaiting() {
    for delivery in waiting {
      leases.finish(delivery.token)
      settled.append(SettledDelivery(delivery.token, .returned(after: .zero, tried: nil)))
    }
    waiting = []
  }

  // MARK: Sending

  /// Returns the results to send now, which become unanswered. A caller that gets any gives them to
  /// the sender, calls ``noteSent()`` and asks again. Until then other callers get none, so that no
  /// result overtakes another.
  mutating func next(at now: MonotonicInstant, wall: Duration) -> [Delivery] {
    guard stoppedAt == nil, !pausing.isOn(at: now), !isPausedByOperator, !isSending else { return [] }
    if waiting.isEmpty, unanswered.isEmpty, let delivery = rejections.takeRepeat(at: now) { sendAgain([delivery]) }
    var next: [Delivery] = []
    var allowed = rate.allowed(at: now)
    while unanswered.count < jobs, let delivery = waiting.first {
      if let expiry = delivery.expiresAt, expiry <= wall {
        tell("its time passed before it was sent: \(QueueStatus.span(wall - expiry)) ago", to: delivery.token, .expired, at: now)
        drop(delivery, .expired, nil)
      } else if delivery.deathsAlone >= configuration.poisonAfter {
        let deaths = "ended \(delivery.deathsAlone) sender\(delivery.deathsAlone == 1 ? "" : "s") while no other result was in flight"
        tell(deaths, to: delivery.token, .poison, at: now)
        drop(delivery, .poison, deaths)
      } else {
        guard allowed >= 1 else { break }
        allowed -= 1
        rate.noteSent()
        waiting.removeFirst()
        unanswered[delivery.token] = Sent(delivery: delivery, at: now, rejections: rejections.count)
        next.append(delivery)
      }
    }
    if !next.isEmpty {
      blockedSince = nil
      isSending = true
    }
    return next
  }

  /// Records that the sender has the results of ``next(at:wall:)``.
  mutating func noteSent() {
    isSending = false
  }

  private mutating func drop(_ delivery: Delivery, _ status: DeliveryStatus, _ answer: String?) {
    waiting.removeFirst()
    leases.finish(delivery.token)
    end(delivery.token, status, answer)
  }

  // MARK: The queue

  /// Returns the next request to the queue; nil when there is no room, or nothing to request yet.
  mutating func request(at now: MonotonicInstant) -> DeliveryRequest? {
    rate.measurePace(at: now)
    guard stoppedAt == nil, !pausing.isOn(at: now) else { return nil }
    var request = DeliveryRequest(limit: 1, span: configuration.leaseSpan, isOrdered: configuration.isOrdered)
    (request.includesFiles, request.rate) = (configuration.includesFiles, configuration.rate)
    switch leases.turn(at: now) {
    case .wait: return nil
    case .others: break
    case .suspect:
      request.isAlone = true
      return request
    }
    if isPausedByOperator { return request }
    // Results that the rate delays wait in the queue, where other deliverers may take them.
    let places = min(Double(jobs - unanswered.count), max(1, rate.allowedInSpan))
    let room = max(0, Int(places)) + rate.ahead - waiting.count
    let isWorthwhile = settled.isEmpty ? waiting.isEmpty && unanswered.count < jobs : true
    guard room > 0, isWorthwhile, leases.bytes < Self.maximumBytes else { return nil }
    request.limit = room
    request.maximumBytes = Self.maximumBytes - leases.bytes
    return request
  }

  /// Records that the queue has stored the first `count` dispositions.
  mutating func taken(_ count: Int, _ claim: DeliveryClaim) {
    for delivery in settled.prefix(count) { leases.release(delivery.token) }
    settled.removeFirst(count)
    result.refused += claim.refused.count
  }

  /// Records the queue's answer to a request.
  mutating func note(_ claim: DeliveryClaim, of request: DeliveryRequest, at now: MonotonicInstant, leasedAt uptime: Duration) {
    // After a claim that got results, the next answers bring the next request.
    leases.note(
      claim.deliveries.map { ($0.token, $0.line.count) }, hasSuspects: claim.hasSuspects,
      next: claim.deliveries.isEmpty ? claim.next : .zero,
      isAlone: request.isAlone, at: now, leased: uptime)
    notePause(claim.pause)
    waiting.append(contentsOf: claim.deliveries)
    if claim.pause == nil { rejections.noteOthers() }
    if claim.pause == nil, claim.deliveries.isEmpty, waiting.isEmpty, unanswered.isEmpty {
      noteNothingElse(at: now, isAtEnd: !claim.hasUndecided)
    }
    // Results that came back during the request precede those of the claim.
    if configuration.isOrdered, !settled.allSatisfy(\.isOver) { giveBackWaiting() }
    isEmpty = claim.next == nil && !claim.hasUndecided
    let isBlocked = configuration.isOrdered && claim.deliveries.isEmpty && leases.count == 0 && claim.next != nil
    blockedSince = isBlocked ? blockedSince ?? now : nil
  }

  /// Records whether an operator has paused the delivery. The results that were not sent go back.
  private mutating func notePause(_ pause: QueuePause?) {
    if pause != nil { giveBackWaiting() }
    guard isPausedByOperator != (pause != nil) else { return }
    isPausedByOperator = pause != nil
    messages.append(pause?.message("delivered") ?? "the delivery goes on")
  }

  // MARK: Pauses and the end

  /// Why no results are sent, and until when.
  var pause: (why: String, until: MonotonicInstant)? { pausing.current }

  /// Sends nothing for a while, which grows with each pause.
  ///
  /// - Parameter isOfMachine: whether only the machine's recovery can end the pause
  ///   (``endPause()``), and no answer.
  mutating func pause(_ why: String, isOfMachine: Bool = false, at now: MonotonicInstant) {
    pausing.begin(why, isOfMachine: isOfMachine, at: now)
  }

  /// Ends the pause: the sender accepts results, or the queue answers.
  mutating func endPause() {
    pausing.end()
  }

  /// Sends no more results.
  mutating func stop(at now: MonotonicInstant) {
    guard stoppedAt == nil else { return }
    stoppedAt = now
    giveBackWaiting()
    giveBackHeld()
  }

  mutating func noteRestart() {
    result.restarts += 1
  }

  /// Whether the run is complete.
  var isDone: Bool {
    guard leases.count == 0, settled.isEmpty, rejections.held.isEmpty else { return false }
    return stoppedAt != nil || configuration.isOnce && isEmpty
  }

  /// Returns the next time at which there is work without an event; nil when there is none.
  func wakeUp(after now: MonotonicInstant) -> MonotonicInstant? {
    if let stoppedAt { return stoppedAt.advanced(by: configuration.answerTimeout) }
    if let pause, now < pause.until { return pause.until }
    if waiting.isEmpty, unanswered.isEmpty, let next = rejections.nextRepeat, now < next, case .wait(let instant) = leases.turn(at: now) {
      return min(instant, next)
    }
    if !waiting.isEmpty, unanswered.count < jobs, let next = rate.next(after: now) { return next }
    let isFull = unanswered.count >= jobs || leases.bytes >= Self.maximumBytes
    if !waiting.isEmpty || isFull { return nil }
    return if case .wait(let instant) = leases.turn(at: now) { instant } else { now }
  }

  /// Whether the answers take longer than a stopped deliverer waits.
  func isOverdue(at now: MonotonicInstant) -> Bool {
    stoppedAt.map { $0.duration(to: now) >= configuration.answerTimeout } ?? false
  }
}
