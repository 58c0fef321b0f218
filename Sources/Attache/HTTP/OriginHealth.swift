/// What the exchanges of one request have shown about the origin that the request names.
///
/// Only the result of the whole request counts, once: an answer to any attempt is a sign of life,
/// however the other attempts ended. A redirect is an answer of the origin that sent it; what
/// happens at its target says nothing about the origin that the payload names.
struct OriginHealth: Equatable, Sendable {
  /// nil when nothing is known.
  var signal: OriginHealthSignal?
  /// When the first exchange began. Waits for a place, and for names, come before it.
  var since: MonotonicInstant?
  /// When the current exchange began; nil between two exchanges.
  private var exchange: MonotonicInstant?
  /// What the head of the current response shows.
  private var head: OriginHealthSignal?

  init(_ signal: OriginHealthSignal? = nil, since: MonotonicInstant? = nil) {
    (self.signal, self.since) = (signal, since)
  }

  mutating func begin(at now: MonotonicInstant) {
    since = since ?? now
    (exchange, head) = (now, nil)
  }

  /// Records a complete response head. nil says nothing about the origin.
  mutating func receive(_ signal: OriginHealthSignal?) { head = signal }

  /// Records the end of an exchange.
  ///
  /// - Parameters:
  ///   - end: what its end shows, if it had no head.
  ///   - isCutOff: whether the connection ended within a wanted body.
  mutating func end(_ end: OriginHealthSignal?, isCutOff: Bool) {
    add(isCutOff ? head.map { _ in .silence } : head ?? end)
    (exchange, head) = (nil, nil)
  }

  /// Returns what is known when the request ends, also in the midst of an exchange.
  ///
  /// - Parameter isSent: whether the request of the current exchange was sent. An origin that has
  ///   begun to answer is alive, however slowly its body comes. One that has not answered a
  ///   request for ``OriginHealthSignal/fairTimeout`` has failed.
  func ended(isSent: Bool, at now: MonotonicInstant) -> OriginHealth {
    var health = OriginHealth(signal, since: since)
    guard let exchange else { return health }
    let isTimedOut = isSent && exchange.duration(to: now) >= OriginHealthSignal.fairTimeout
    health.add(head ?? (isTimedOut ? .silence : nil))
    return health
  }

  private mutating func add(_ new: OriginHealthSignal?) {
    if signal != .life, let new { signal = new }
  }
}
