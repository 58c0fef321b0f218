internal import Attache

/// A deliverer's book: what it holds, what is at the sender, and what the queue is to be told. It
/// decides; ``Deliverer`` acts.
struct DelivererState {
  /// How often a queue is asked that had nothing to deliver: what others decide, and whose holder
  /// has gone, is not told.
  static let poll = Duration.milliseconds(250)
  /// How long a suspect waits at most before everything else makes room for it.
  static let suspectPatience = Duration.seconds(5)
  /// Results that are held for the sender beside those that it has, at most, and how much of its
  /// pace that is.
  static let aheadLimit = 1_024
  static let aheadSpan = Duration.milliseconds(100)
  /// Bytes of lines that a deliverer holds at a time, except that one line is always taken.
  static let maximumBytes = 16_000_000

  private let configuration: DelivererConfiguration
  /// Held and not sent, in the order to send them.
  private var waiting: ArraySlice<Delivery> = []
  private var unanswered: [LeaseToken: Delivery] = [:]
  /// Whether a thread gives results to the sender.
  private var isSending = false
  private var heldBytes = 0
  /// What the queue is to be told.
  private(set) var settled: [SettledDelivery] = []
  /// When each lease was taken or renewed, by the queue's clock.
  private var leased: [LeaseToken: Duration] = [:]
  private(set) var result = DelivererResult()

  private var suspectsSince: MonotonicInstant?
  private var wantsAlone = false
  private var holdsSuspect = false
  private var quietUntil = MonotonicInstant.distantPast
  /// Whether the queue had nothing to deliver, and nothing to decide, when it was asked last.
  private var isEmpty = false

  /// Why nothing is sent, and until when.
  private(set) var pause: (why: String, until: MonotonicInstant)?
  private var pauses = 0
  /// Whether the pause is for the machine, which no answer of a sender mends.
  private var isOfMachine = false
  /// Whether any sender of this run has answered anything: one that never works, such as by a wrong
  /// path, says nothing about a payload.
  private var hasAnswered = false

  /// Results that were sent since the rate was looked at.
  private var allowance = 0.0
  private var allowedAt: MonotonicInstant?
  /// Results answered a second, of late.
  private var pace = 0.0
  private var pacedAt: MonotonicInstant?
  private var answeredSince = 0

  private(set) var stoppedAt: MonotonicInstant?
  /// Since when the first payload in the order has kept all others waiting.
  private(set) var blockedSince: MonotonicInstant?

  init(_ configuration: DelivererConfiguration) {
    self.configuration = configuration
  }

  var unansweredCount: Int { unanswered.count }
  private var heldCount: Int { waiting.count + unanswered.count }

  // MARK: Answers

  /// Takes an answer.
  ///
  /// - Parameters:
  ///   - wall: since 1970.
  ///   - jitter: gives a random fraction in 0…1, where one is needed.
  mutating func note(_ token: LeaseToken, _ answer: DeliveryAnswer, at now: MonotonicInstant, wall: Duration, jitter: () -> Double) {
    // An answer too many is no answer.
    guard let delivery = unanswered.removeValue(forKey: token) else { return }
    let wasAlone = holdsSuspect
    if unanswered.isEmpty, waiting.isEmpty { holdsSuspect = false }
    heldBytes -= delivery.line.count
    answeredSince += 1
    switch answer {
    case .delivered(let status):
      noteAnswer()
      end(token, .delivered, status)
    case .dropped(let reason):
      noteAnswer()
      end(token, .dropped, reason)
    case .retry(let span, let reason):
      noteAnswer()
      let delay = span ?? Self.delay(after: delivery, wall: wall, jitter: jitter())
      giveBack(token, after: delay, tried: reason)
    case .senderEnded(let reason) where hasAnswered:
      result.retried += 1
      settled.append(SettledDelivery(token, .senderEnded(isAlone: wasAlone, tried: reason)))
      keepOrder()
    case .senderEnded(let reason): giveBack(token, after: .zero, tried: reason)
    case .unanswered: giveBack(token, after: .zero, tried: nil)
    case .refused(let reason):
      giveBack(token, after: .zero, tried: nil)
      pause(reason, at: now)
    }
  }

  private mutating func noteAnswer() {
    hasAnswered = true
    if !isOfMachine { endPause() }
  }

  private static func delay(after delivery: Delivery, wall: Duration, jitter: Double) -> Duration {
    let schedule = RetrySchedule(attempts: .max)
    let remaining = delivery.expiresAt.map { $0 - wall }
    return schedule.delay(after: delivery.attempt, remaining: remaining, jitter: jitter) ?? max(.milliseconds(1), remaining ?? .zero)
  }

  private mutating func end(_ token: LeaseToken, _ status: DeliveryStatus, _ answer: String?) {
    result.ended[status, default: 0] += 1
    settled.append(SettledDelivery(token, .over(status, answer: answer)))
  }

  private mutating func giveBack(_ token: LeaseToken, after delay: Duration, tried: String?) {
    if tried != nil { result.retried += 1 }
    settled.append(SettledDelivery(token, .returned(after: delay, tried: tried)))
    keepOrder()
  }

  /// What comes again comes before what is held behind it.
  private mutating func keepOrder() {
    if configuration.isOrdered { giveBackWaiting() }
  }

  private mutating func giveBackWaiting() {
    for delivery in waiting {
      heldBytes -= delivery.line.count
      settled.append(SettledDelivery(delivery.token, .returned(after: .zero, tried: nil)))
    }
    waiting = []
    if unanswered.isEmpty { holdsSuspect = false }
  }

  // MARK: Sending

  /// The results to send now; they are unanswered from now on. A caller that gets some gives them
  /// to the sender, calls ``noteSent()`` and asks again. Until then no other caller gets any, so
  /// that no result overtakes another.
  mutating func next(at now: MonotonicInstant, wall: Duration) -> [Delivery] {
    guard stoppedAt == nil, !isPaused(at: now), !isSending else { return [] }
    var next: [Delivery] = []
    var allowed = allowed(at: now)
    while unanswered.count < configuration.jobs, let delivery = waiting.first {
      if let expiry = delivery.expiresAt, expiry <= wall {
        drop(delivery, .expired, nil)
      } else if delivery.deathsAlone >= configuration.poisonAfter {
        drop(delivery, .poison, "ended \(delivery.deathsAlone) sender\(delivery.deathsAlone == 1 ? "" : "s") by itself")
      } else {
        guard allowed >= 1 else { break }
        allowed -= 1
        allowance -= 1
        waiting.removeFirst()
        unanswered[delivery.token] = delivery
        next.append(delivery)
      }
    }
    if !next.isEmpty {
      blockedSince = nil
      isSending = true
    }
    return next
  }

  /// The sender has what ``next(at:wall:)`` gave.
  mutating func noteSent() {
    isSending = false
  }

  private mutating func drop(_ delivery: Delivery, _ status: DeliveryStatus, _ answer: String?) {
    waiting.removeFirst()
    heldBytes -= delivery.line.count
    if unanswered.isEmpty, waiting.isEmpty { holdsSuspect = false }
    end(delivery.token, status, answer)
  }

  /// How many results the rate allows in a moment.
  private var allowedInSpan: Double {
    configuration.rate.map { $0 * (Self.aheadSpan / .seconds(1)) } ?? .infinity
  }

  /// How many results the rate allows; after a quiet time no more at once than those of a moment.
  private mutating func allowed(at now: MonotonicInstant) -> Double {
    guard let rate = configuration.rate else { return .infinity }
    let elapsed = allowedAt.map { $0.duration(to: now) / .seconds(1) } ?? 0
    let burst = max(1, allowedInSpan)
    allowance = allowedAt == nil ? 1 : min(burst, allowance + elapsed * rate)
    allowedAt = now
    return allowance
  }

  // MARK: The queue

  /// What is asked of the queue; nil when there is no room, or nothing to ask for yet.
  mutating func request(at now: MonotonicInstant) -> DeliveryRequest? {
    measurePace(at: now)
    guard stoppedAt == nil, !isPaused(at: now), !holdsSuspect else { return nil }
    var request = DeliveryRequest(limit: 1, span: configuration.leaseSpan, isOrdered: configuration.isOrdered)
    if wantsAlone {
      guard heldCount == 0 else { return nil }
      request.isAlone = true
      return request
    }
    let perSecond = min(pace, configuration.rate ?? .infinity)
    let ahead = min(Self.aheadLimit, Int(min(1e6, perSecond * (Self.aheadSpan / .seconds(1)))))
    // A rate that keeps results waiting has them wait in the queue, where others may take them.
    let places = min(Double(configuration.jobs - unanswered.count), max(1, allowedInSpan))
    let room = max(0, Int(places)) + ahead - waiting.count
    let isWorthwhile = settled.isEmpty ? waiting.isEmpty && unanswered.count < configuration.jobs : true
    guard room > 0, isWorthwhile, quietUntil <= now, heldBytes < Self.maximumBytes else { return nil }
    request.limit = room
    request.maximumBytes = Self.maximumBytes - heldBytes
    return request
  }

  private mutating func measurePace(at now: MonotonicInstant) {
    guard let since = pacedAt else {
      pacedAt = now
      return
    }
    let span = since.duration(to: now)
    guard span >= Self.aheadSpan else { return }
    pace = Double(answeredSince) / (span / .seconds(1))
    (pacedAt, answeredSince) = (now, 0)
  }

  /// The queue has taken what was settled.
  mutating func taken(_ count: Int, _ claim: DeliveryClaim) {
    for delivery in settled.prefix(count) { leased[delivery.token] = nil }
    settled.removeFirst(count)
    result.refused += claim.refused.count
  }

  /// The queue has answered a request.
  mutating func note(_ claim: DeliveryClaim, of request: DeliveryRequest, at now: MonotonicInstant, leasedAt uptime: Duration) {
    for delivery in claim.deliveries { leased[delivery.token] = uptime }
    heldBytes += claim.deliveries.reduce(0) { $0 + $1.line.count }
    waiting.append(contentsOf: claim.deliveries)
    // What came back while the queue was asked comes before what it has given.
    if configuration.isOrdered, !settled.allSatisfy(\.isOver) { giveBackWaiting() }
    holdsSuspect = request.isAlone && !claim.deliveries.isEmpty
    wantsAlone = wantsSuspect(claim, isAlone: request.isAlone, at: now)
    let wait = claim.deliveries.isEmpty && !wantsAlone ? min(Self.poll, max(claim.next ?? Self.poll, .milliseconds(10))) : .zero
    quietUntil = wait > .zero ? now.advanced(by: wait) : .distantPast
    isEmpty = claim.next == nil && !claim.hasUndecided
    let isBlocked = configuration.isOrdered && claim.deliveries.isEmpty && heldCount == 0 && claim.next != nil
    blockedSince = isBlocked ? blockedSince ?? now : nil
  }

  /// Whether the next claim is for a suspect: when there is nothing else, or when it has waited for
  /// long.
  private mutating func wantsSuspect(_ claim: DeliveryClaim, isAlone: Bool, at now: MonotonicInstant) -> Bool {
    guard claim.hasSuspects else {
      suspectsSince = nil
      return false
    }
    if isAlone {
      // In order, an earlier result may stand before the suspect by now.
      guard !claim.deliveries.isEmpty else {
        suspectsSince = nil
        return false
      }
      suspectsSince = now
    }
    let since = suspectsSince ?? now
    suspectsSince = since
    return claim.deliveries.isEmpty || since.duration(to: now) > Self.suspectPatience
  }

  /// The leases that were taken or renewed before a moment of the queue's clock.
  func renewals(before moment: Duration) -> [LeaseToken] {
    leased.filter { $0.value < moment }.map(\.key)
  }

  mutating func renewed(_ tokens: [LeaseToken], at now: Duration) {
    for token in tokens where leased[token] != nil { leased[token] = now }
  }

  // MARK: Pauses and the end

  private func isPaused(at now: MonotonicInstant) -> Bool {
    pause.map { now < $0.until } ?? false
  }

  /// Sends nothing for a while, which grows from one time to the next.
  ///
  /// - Parameter isOfMachine: whether only the machine can end it (``endPause()``), and no answer.
  mutating func pause(_ why: String, isOfMachine: Bool = false, at now: MonotonicInstant) {
    // Answers that come at the same time count once, and none takes the place of the machine's
    // pause.
    if let pause, now < pause.until, self.isOfMachine || !isOfMachine { return }
    self.isOfMachine = isOfMachine
    let span = min(DelivererConfiguration.longestPause, configuration.pause * (1 << min(pauses, 16)))
    pauses += 1
    pause = (why, now.advanced(by: span))
  }

  /// The sender takes results, and the queue answers.
  mutating func endPause() {
    pause = nil
    pauses = 0
    isOfMachine = false
  }

  /// Sends nothing more.
  mutating func stop(at now: MonotonicInstant) {
    guard stoppedAt == nil else { return }
    stoppedAt = now
    giveBackWaiting()
  }

  mutating func noteRestart() {
    result.restarts += 1
  }

  /// Whether everything is over that the run is for.
  var isDone: Bool {
    guard heldCount == 0, settled.isEmpty else { return false }
    return stoppedAt != nil || configuration.isOnce && isEmpty
  }

  /// When there is something to do although nobody rings; nil when there is not.
  func wakeUp(after now: MonotonicInstant) -> MonotonicInstant? {
    if let stoppedAt { return stoppedAt.advanced(by: configuration.answerTimeout) }
    if let pause, now < pause.until { return pause.until }
    if holdsSuspect, waiting.isEmpty { return nil }
    if let rate = configuration.rate, !waiting.isEmpty, unanswered.count < configuration.jobs {
      return now.advanced(by: .seconds(min(3_600, max(0.000_1, (1 - allowance) / rate))))
    }
    let isFull = unanswered.count >= configuration.jobs || heldBytes >= Self.maximumBytes
    if !waiting.isEmpty || isFull || wantsAlone && heldCount > 0 { return nil }
    return max(quietUntil, now)
  }
}
