/// Decides which failing origins get no requests for a while. Each origin has its own circuit. A
/// pure value.
///
/// A failure is a request to which the origin gave no complete answer: a status of 502 to 504, a
/// closed connection, or a time-out. Every other complete response is an answer, and closes the
/// circuit. A circuit opens when at least ``threshold`` requests in a row have failed, over at least
/// ``span``, and the origin has answered none in between. The row begins when the first failing
/// request was sent, or at the last answer if that is later. A pause of more than ``span`` without
/// a failure begins a new row, because nothing is known about the origin meanwhile.
///
/// An open circuit refuses the parts of the origin that failed (``part(of:)``), or all of it once
/// no connection can be made or more than ``maximumParts`` parts have failed. In each
/// ``probeInterval`` it lets the first request of a part through, whether or not earlier ones have
/// ended: a request that hangs does not delay the next. Such a probe is the request of the next
/// payload, fetched like any other. Parts share ``probeLanes`` lanes, differently in each interval, so
/// that those of a stranger do not take the turns of all others. The parts that answered lately share one
/// more lane, because a stranger can name any number of parts that never answer.
struct CircuitBreaker {
  /// The decision about a request.
  enum Verdict: Equatable, Sendable {
    case pass
    case refuse(BreakerRefusal)
  }

  /// The number of failures in a row that opens a circuit. Fewer may come from one broken file.
  static let threshold = 10
  /// How long the failures must have lasted, and the longest pause between two of a row.
  static let span = Duration.seconds(10)
  /// The time between two requests of a part that an open circuit lets through.
  static let probeInterval = Duration.seconds(1)
  /// The number of requests of any parts that an open circuit lets through in this time. One more is
  /// for the parts that answered.
  static let probeLanes = 4
  /// The number of failed parts of an origin above which all of it counts as failed.
  static let maximumParts = 8
  /// The longest time that a refused request is asked to wait: also how long a payload of a queue
  /// may still wait when its origin is back.
  static let longestWait = Duration.seconds(30)
  /// An origin without events for this long is forgotten.
  static let memory = Duration.seconds(120)
  /// The maximum number of parts of an origin that are remembered because they answered.
  static let maximumAnswers = 8
  /// The maximum number of origins that are remembered; about 400 bytes each.
  static let capacity = 4_096

  private struct Circuit {
    var isOpen = false
    /// The number of failures in the row.
    var failures = 0
    /// When the row began.
    var since: MonotonicInstant
    var latestFailure = MonotonicInstant.distantPast
    var latestAnswer = MonotonicInstant.distantPast
    /// The parts that answered, the latest one last.
    var answers: [Int] = []
    /// The parts that failed.
    var parts: Set<Int> = []
    /// Whether the failures concern every part.
    var isWhole = false
    /// The end of the current interval, its number, and the lanes that are taken in it.
    var nextProbe = MonotonicInstant.distantPast
    var interval = 0
    var takenLanes: Set<Int> = []
    /// Whether a request was let through whose result has not arrived.
    var isProbing = false
    /// When the next refused request is asked to come again.
    var nextTurn = MonotonicInstant.distantPast
    var touched: MonotonicInstant

    init(at now: MonotonicInstant) {
      (since, touched) = (now, now)
    }

    /// Records an answer, which closes the circuit.
    mutating func answer(_ part: Int, at now: MonotonicInstant) {
      var answers = answers
      if answers.last != part {
        answers.removeAll { $0 == part }
        answers.append(part)
        if answers.count > CircuitBreaker.maximumAnswers { answers.removeFirst() }
      }
      self = Circuit(at: now)
      (latestAnswer, self.answers) = (now, answers)
    }

    func refuses(_ part: Int) -> Bool {
      isWhole || parts.contains(part)
    }

    mutating func fail(_ signal: OriginHealthSignal, _ part: Int, from start: MonotonicInstant, at now: MonotonicInstant) {
      let start = min(start, now)
      if !isOpen, failures == 0 || latestFailure.advanced(by: CircuitBreaker.span) < start {
        (failures, parts, isWhole, since) = (0, [], false, max(latestAnswer, start))
      }
      failures += 1
      latestFailure = now
      parts.insert(part)
      if signal == .absence || parts.count > CircuitBreaker.maximumParts { (isWhole, parts) = (true, []) }
      guard !isOpen, failures >= CircuitBreaker.threshold, since.duration(to: now) >= CircuitBreaker.span else { return }
      isOpen = true
      nextProbe = now.advanced(by: CircuitBreaker.probeInterval)
      takenLanes = Set(0...CircuitBreaker.probeLanes)
    }

    /// Returns whether a request of a part is let through.
    mutating func probes(_ part: Int, at now: MonotonicInstant) -> Bool {
      if now >= nextProbe {
        // An interval begins where the last one ended, so that a late request delays nobody.
        let next = nextProbe.advanced(by: CircuitBreaker.probeInterval)
        nextProbe = next > now ? next : now.advanced(by: CircuitBreaker.probeInterval)
        interval += 1
        takenLanes = []
      }
      return takenLanes.insert(lane(of: part)).inserted
    }

    private func lane(of part: Int) -> Int {
      guard !answers.contains(part) else { return CircuitBreaker.probeLanes }
      var hasher = Hasher()
      hasher.combine(part)
      hasher.combine(interval)
      return Int(hasher.finalize().magnitude % UInt(CircuitBreaker.probeLanes))
    }
  }

  private var circuits: [String: Circuit] = [:]
  /// The number of circuits with failures.
  private var failing = 0
  /// The circuit of the origin that answered last, while no origin fails. It is kept apart, because
  /// most answers come from the origin that answered before: then no table is read.
  private var latest: (origin: String, circuit: Circuit)?

  /// Whether an origin has failed since its last answer. If none has, ``admit(_:of:at:jitter:)``
  /// passes every request.
  var hasFailures: Bool { failing > 0 }

  /// Returns the part of an origin that a target belongs to, as a hash of the first segment of the
  /// path: gateways choose the server behind them by it.
  static func part(of target: String) -> Int {
    var (target, hasher) = (target, Hasher())
    target.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      let end = unsafe bytes.dropFirst().firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
    }
    return hasher.finalize()
  }

  /// Decides about a request to an origin.
  ///
  /// - Parameters:
  ///   - target: its path and query.
  ///   - jitter: a random fraction in 0…1, used only for a refusal.
  mutating func admit(_ target: @autoclosure () -> String, of origin: String, at now: MonotonicInstant, jitter: @autoclosure () -> Double)
    -> Verdict
  {
    guard var circuit = circuit(of: origin, at: now), circuit.isOpen else { return .pass }
    let part = Self.part(of: target())
    guard circuit.refuses(part) else { return .pass }
    defer { circuits[origin] = circuit }
    circuit.touched = now
    if circuit.probes(part, at: now) {
      circuit.isProbing = true
      return .pass
    }
    // Each refused request gets its own turn, so that those which wait come one after the other.
    let turn = max(circuit.nextTurn, circuit.nextProbe)
    let last = now.advanced(by: Self.longestWait)
    circuit.nextTurn = min(turn.advanced(by: Self.probeInterval), last)
    let retryAfter = turn < last ? now.duration(to: turn) : Self.longestWait * (0.5 + jitter() / 2)
    return .refuse(
      BreakerRefusal(
        origin: origin, failures: circuit.failures, duration: circuit.since.duration(to: now),
        nextProbe: now.duration(to: circuit.nextProbe),
        retryAfter: retryAfter))
  }

  /// Records the result of a request.
  ///
  /// - Parameters:
  ///   - health: what it showed about the origin.
  ///   - target: the path and the query of the request.
  /// - Returns: whether the circuit opened or closed; nil for neither.
  @discardableResult
  mutating func note(_ health: OriginHealth, of origin: String, target: @autoclosure () -> String, at now: MonotonicInstant)
    -> BreakerChange?
  {
    guard let signal = health.signal else {
      circuits[origin]?.isProbing = false
      return nil
    }
    let part = Self.part(of: target())
    if signal == .life, latest?.origin == origin {
      latest?.circuit.answer(part, at: now)
      return nil
    }
    fileLatest()
    var circuit = circuit(of: origin, at: now) ?? Circuit(at: now)
    let wasOpen = circuit.isOpen
    if signal == .life {
      circuit.answer(part, at: now)
    } else {
      circuit.isProbing = false
      circuit.fail(signal, part, from: health.since ?? now, at: now)
      circuit.touched = now
    }
    keep(circuit, of: origin)
    if !hasFailures { latest = (origin, circuit) }
    guard circuit.isOpen != wasOpen else { return nil }
    return circuit.isOpen ? .opened(failures: circuit.failures, duration: circuit.since.duration(to: now)) : .closed
  }

  /// Moves the circuit that is kept apart to the table.
  private mutating func fileLatest() {
    guard let latest = latest.take() else { return }
    keep(latest.circuit, of: latest.origin)
  }

  private mutating func keep(_ circuit: Circuit, of origin: String) {
    if let earlier = circuits.updateValue(circuit, forKey: origin), earlier.failures > 0 { failing -= 1 }
    if circuit.failures > 0 { failing += 1 }
    guard circuits.count > Self.capacity else { return }
    let oldest = circuits.sorted { $0.value.touched < $1.value.touched }.prefix(Self.capacity / 2)
    for (origin, _) in oldest {
      if let earlier = circuits.removeValue(forKey: origin), earlier.failures > 0 { failing -= 1 }
    }
  }

  /// The number of origins that are remembered.
  var count: Int { withLatest.circuits.count }

  /// Returns the number of remembered origins in each state.
  func states(at now: MonotonicInstant) -> BreakerStates {
    var states = BreakerStates()
    for circuit in withLatest.circuits.values where circuit.touched.duration(to: now) < Self.memory {
      if !circuit.isOpen { states.closed += 1 } else if circuit.isProbing { states.probing += 1 } else { states.open += 1 }
    }
    return states
  }

  private var withLatest: CircuitBreaker {
    var breaker = self
    breaker.fileLatest()
    return breaker
  }

  private func circuit(of origin: String, at now: MonotonicInstant) -> Circuit? {
    circuits[origin].flatMap { $0.touched.duration(to: now) < Self.memory ? $0 : nil }
  }
}

/// Why a circuit refuses a request, for the log.
struct BreakerRefusal: Equatable, Sendable {
  /// The origin, with its port.
  var origin: String
  /// The number of requests that have failed since the origin began to fail.
  var failures: Int
  /// How long the origin has been failing.
  var duration: Duration
  /// How long until a request is let through.
  var nextProbe: Duration
  /// How long the payload should wait before it asks again. Differs from ``nextProbe`` when others
  /// wait already.
  var retryAfter: Duration
}

extension FetchFailure {
  /// Creates the failure of a request that the circuit breaker refuses.
  init(_ refusal: BreakerRefusal) {
    self.init(
      reason: .policyBreaker,
      message: "\(refusal.origin) has failed for \(refusal.duration.components.seconds) s, in \(refusal.failures) requests in a row; "
        + "the next request is let through in \(Int(refusal.nextProbe.milliseconds.rounded(.up))) ms; repair the origin, and attache resumes by itself"
    )
    retryAfter = refusal.retryAfter
  }
}

/// The number of remembered origins in each state of the circuit breaker.
public struct BreakerStates: Hashable, Sendable {
  /// Origins to which requests are sent.
  public var closed = 0
  /// Failing origins, to which a request is sent only now and then.
  public var open = 0
  /// Failing origins to which such a request was sent and has no result yet.
  public var probing = 0

  /// Creates the counts of no origins.
  public init() {}
}
