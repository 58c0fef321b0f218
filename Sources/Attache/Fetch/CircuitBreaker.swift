/// Which origins are left alone for a while because nobody is there; each origin has a circuit of
/// its own.
///
/// It must refuse nothing of an origin that also answers. Exchanges whose connection did not come
/// about count whatever they asked for: ten in a row open the circuit. What breaks behind the
/// connection may be the fault of one path alone, so that such failures must also have gone on for
/// a second. One sign of life ends the row, and within a second after it no circuit opens.
struct CircuitBreaker {
  /// What becomes of an exchange that is about to begin.
  enum Verdict: Equatable, Sendable {
    case pass
    /// It is the one that tries whether the origin is back; its end is told by
    /// ``note(_:of:at:isProbe:)`` or ``giveUpProbe(of:at:)``.
    case probe
    case refuse
  }

  /// Failures in a row that open a circuit.
  static let threshold = 10
  /// How long failures behind a connection must have gone on, and how long a sign of life keeps a
  /// circuit closed.
  static let patience = Duration.seconds(1)
  /// How long an origin is first left alone; each failed probe doubles it, up to the longest.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(30)
  /// What was not heard of for so long is forgotten, a probe that never ends included.
  static let memory = Duration.seconds(120)
  /// Origins that are remembered at most; about 200 bytes each.
  static let capacity = 4_096

  private enum Phase: Equatable {
    case closed
    case open(until: MonotonicInstant, pause: Duration)
    case probing(pause: Duration)
  }

  private struct Circuit {
    var phase = Phase.closed
    /// Failures in a row.
    var failures = 0
    /// Those among them that came after the last one behind a connection.
    var absences = 0
    /// When the row began.
    var since: MonotonicInstant
    var lastLife: MonotonicInstant?
    var touched: MonotonicInstant

    mutating func fail(by sign: OriginHealthSignal, at now: MonotonicInstant) {
      if failures == 0 { since = now }
      failures += 1
      absences = sign == .absence ? absences + 1 : 0
      let hasLasted = since.duration(to: now) >= CircuitBreaker.patience
      let isAlive = lastLife.map { $0.duration(to: now) < CircuitBreaker.patience } ?? false
      guard !isAlive, absences >= CircuitBreaker.threshold || failures >= CircuitBreaker.threshold && hasLasted else { return }
      phase = .open(until: now.advanced(by: CircuitBreaker.firstPause), pause: CircuitBreaker.firstPause)
      (failures, absences) = (0, 0)
    }
  }

  private var circuits: [String: Circuit] = [:]

  /// Decides about an exchange with an origin.
  mutating func admit(to origin: String, at now: MonotonicInstant) -> Verdict {
    guard var circuit = circuit(of: origin, at: now) else { return .pass }
    switch circuit.phase {
    case .closed: return .pass
    case .probing: return .refuse
    case .open(let until, let pause):
      guard now >= until else { return .refuse }
      circuit.phase = .probing(pause: pause)
      keep(circuit, of: origin, at: now)
      return .probe
    }
  }

  /// Takes down what an exchange has told of its origin.
  mutating func note(_ sign: OriginHealthSignal, of origin: String, at now: MonotonicInstant, isProbe: Bool = false) {
    var circuit = circuit(of: origin, at: now) ?? Circuit(since: now, touched: now)
    switch (sign, circuit.phase) {
    case (.life, _): circuit = Circuit(since: now, lastLife: now, touched: now)
    case (_, .probing(let pause)) where isProbe:
      let longer = min(pause * 2, Self.longestPause)
      circuit.phase = .open(until: now.advanced(by: longer), pause: longer)
    // What began before the circuit opened says nothing new.
    case (_, .open), (_, .probing): return
    case (_, .closed): circuit.fail(by: sign, at: now)
    }
    keep(circuit, of: origin, at: now)
  }

  /// The probe ended without saying anything of its origin, at its deadline for one: the next
  /// exchange is the probe.
  mutating func giveUpProbe(of origin: String, at now: MonotonicInstant) {
    guard var circuit = circuit(of: origin, at: now), case .probing(let pause) = circuit.phase else { return }
    circuit.phase = .open(until: now, pause: pause)
    keep(circuit, of: origin, at: now)
  }

  /// How many origins are remembered.
  var count: Int { circuits.count }

  /// How the origins that are remembered stand.
  func states(at now: MonotonicInstant) -> BreakerStates {
    var states = BreakerStates()
    for circuit in circuits.values where circuit.touched.duration(to: now) < Self.memory {
      switch circuit.phase {
      case .closed: states.closed += 1
      case .open: states.open += 1
      case .probing: states.probing += 1
      }
    }
    return states
  }

  private func circuit(of origin: String, at now: MonotonicInstant) -> Circuit? {
    circuits[origin].flatMap { $0.touched.duration(to: now) < Self.memory ? $0 : nil }
  }

  private mutating func keep(_ circuit: Circuit, of origin: String, at now: MonotonicInstant) {
    circuits[origin] = circuit
    circuits[origin]?.touched = now
    guard circuits.count > Self.capacity else { return }
    let oldest = circuits.sorted { $0.value.touched < $1.value.touched }.prefix(Self.capacity / 2)
    for (origin, _) in oldest { circuits[origin] = nil }
  }
}
