/// Decides which unreachable origins get no requests for a while. Each origin has its own circuit.
///
/// It must not block an origin that also responds. Failures to connect count whatever was
/// requested: ten in a row open the circuit. A failure after the connection is made may concern one
/// path only, so a row that contains such failures must also have lasted for a second. One response
/// from the origin ends the row, and within a second after it no circuit opens.
struct CircuitBreaker {
  /// The decision about an exchange that is about to begin.
  enum Verdict: Equatable, Sendable {
    case pass
    /// This exchange tests whether the origin is back. The caller reports its end with
    /// ``note(_:of:at:isProbe:)`` or ``giveUpProbe(of:at:)``.
    case probe
    case refuse
  }

  /// The number of failures in a row that opens a circuit.
  static let threshold = 10
  /// How long failures after the connection is made must have lasted, and how long a response keeps
  /// a circuit closed.
  static let patience = Duration.seconds(1)
  /// How long a circuit first stays open. Each failed probe doubles the time, up to
  /// ``longestPause``.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(30)
  /// An origin without events for this long is forgotten. This includes a probe that never ends.
  static let memory = Duration.seconds(120)
  /// The maximum number of origins that are remembered; about 200 bytes each.
  static let capacity = 4_096

  private enum Phase: Equatable {
    case closed
    case open(until: MonotonicInstant, pause: Duration)
    case probing(pause: Duration)
  }

  private struct Circuit {
    var phase = Phase.closed
    /// The number of failures in a row.
    var failures = 0
    /// The number of connection failures since the last failure after a connection was made.
    var absences = 0
    /// When the row of failures began.
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

  /// Records what the result of an exchange says about its origin.
  mutating func note(_ sign: OriginHealthSignal, of origin: String, at now: MonotonicInstant, isProbe: Bool = false) {
    var circuit = circuit(of: origin, at: now) ?? Circuit(since: now, touched: now)
    switch (sign, circuit.phase) {
    case (.life, _): circuit = Circuit(since: now, lastLife: now, touched: now)
    case (_, .probing(let pause)) where isProbe:
      let longer = min(pause * 2, Self.longestPause)
      circuit.phase = .open(until: now.advanced(by: longer), pause: longer)
    // An exchange that began before the circuit opened adds no information.
    case (_, .open), (_, .probing): return
    case (_, .closed): circuit.fail(by: sign, at: now)
    }
    keep(circuit, of: origin, at: now)
  }

  /// Records that the probe ended without information about its origin, for example at its
  /// deadline. The next exchange becomes the probe.
  mutating func giveUpProbe(of origin: String, at now: MonotonicInstant) {
    guard var circuit = circuit(of: origin, at: now), case .probing(let pause) = circuit.phase else { return }
    circuit.phase = .open(until: now, pause: pause)
    keep(circuit, of: origin, at: now)
  }

  /// The number of origins that are remembered.
  var count: Int { circuits.count }

  /// Returns the number of remembered origins in each state.
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
