import Testing

@testable import Attache

@Suite struct CircuitBreakerTests {
  private static let origin = "https://cdn.example:443"
  private static let start = MonotonicInstant.now

  /// The events of a breaker and their times, in milliseconds.
  private enum Move {
    case note(OriginHealthSignal, Int)
    case probeFails(Int)
    case probeSaysNothing(Int)
    case probeAnswers(Int)
    case expect(CircuitBreaker.Verdict, Int)
  }

  private static func play(_ moves: [Move], on breaker: inout CircuitBreaker, origin: String = origin) {
    func at(_ milliseconds: Int) -> MonotonicInstant { start.advanced(by: .milliseconds(milliseconds)) }
    for (number, move) in moves.enumerated() {
      switch move {
      case .note(let sign, let time): breaker.note(sign, of: origin, at: at(time))
      case .probeFails(let time): breaker.note(.absence, of: origin, at: at(time), isProbe: true)
      case .probeAnswers(let time): breaker.note(.life, of: origin, at: at(time), isProbe: true)
      case .probeSaysNothing(let time): breaker.giveUpProbe(of: origin, at: at(time))
      case .expect(let verdict, let time):
        let given = breaker.admit(to: origin, at: at(time))
        #expect(given == verdict, "move \(number + 1)")
      }
    }
  }

  private static func play(_ moves: [Move]) {
    var breaker = CircuitBreaker()
    play(moves, on: &breaker)
  }

  private static func row(_ sign: OriginHealthSignal, _ count: Int, at time: Int = 0) -> [Move] {
    Array(repeating: .note(sign, time), count: count)
  }

  private static let opened = row(.absence, 10)

  @Test func `ten connections in a row that do not come about open the circuit, nine do not`() {
    Self.play(Self.row(.absence, 9) + [.expect(.pass, 0)])
    Self.play(Self.row(.absence, 10) + [.expect(.refuse, 0)])
  }

  @Test func `a sign of life ends the row`() {
    Self.play(Self.row(.absence, 9) + [.note(.life, 0)] + Self.row(.absence, 9, at: 2000) + [.expect(.pass, 2000)])
    Self.play(Self.row(.absence, 9) + [.note(.life, 0)] + Self.row(.absence, 10, at: 2000) + [.expect(.refuse, 2000)])
  }

  @Test func `within a second after a sign of life no circuit opens`() {
    Self.play([.note(.life, 0)] + Self.row(.absence, 100, at: 999) + [.expect(.pass, 999), .note(.absence, 1000), .expect(.refuse, 1000)])
  }

  @Test func `what breaks behind a connection opens the circuit only when it has gone on for a second`() {
    Self.play(Self.row(.silence, 500) + [.expect(.pass, 0), .note(.silence, 999), .expect(.pass, 999)])
    Self.play(Self.row(.silence, 9) + [.note(.silence, 1000), .expect(.refuse, 1000)])
    Self.play(Self.row(.silence, 8) + [.note(.silence, 1000), .expect(.pass, 1000)])
  }

  @Test func `a connection that came about and broke ends the row of those that did not`() {
    Self.play(
      Self.row(.absence, 9) + [.note(.silence, 0)] + Self.row(.absence, 9) + [.expect(.pass, 0), .note(.absence, 0), .expect(.refuse, 0)])
  }

  @Test func `after its pause one probe goes out, and the others are refused meanwhile`() {
    Self.play(Self.opened + [.expect(.refuse, 999), .expect(.probe, 1000), .expect(.refuse, 1000), .expect(.refuse, 60_000)])
  }

  @Test func `a probe that is answered closes the circuit`() {
    Self.play(
      Self.opened + [.expect(.probe, 1000), .probeAnswers(1100), .expect(.pass, 1100), .note(.absence, 2200), .expect(.pass, 2200)])
  }

  @Test func `an answer to what began before the circuit opened closes it too`() {
    Self.play(Self.opened + [.note(.life, 100), .expect(.pass, 100)])
  }

  @Test func `each failed probe doubles the pause, to half a minute at most`() {
    var (moves, now) = (Self.opened, 0)
    for pause in [1, 2, 4, 8, 16, 30, 30].map({ $0 * 1000 }) {
      moves += [.expect(.refuse, now + pause - 1), .expect(.probe, now + pause), .probeFails(now + pause)]
      now += pause
    }
    Self.play(moves)
  }

  @Test func `failures of what began before the circuit opened do not prolong the pause`() {
    Self.play(Self.opened + Self.row(.absence, 50, at: 900) + [.expect(.probe, 1000), .note(.absence, 1001), .expect(.refuse, 1001)])
  }

  @Test func `a probe that says nothing hands on to the next`() {
    Self.play(Self.opened + [.expect(.probe, 1000), .probeSaysNothing(3000), .expect(.probe, 3000), .expect(.refuse, 3000)])
  }

  @Test func `a circuit that was not heard of for two minutes is forgotten`() {
    Self.play(Self.row(.absence, 9) + [.note(.absence, 120_000), .expect(.pass, 120_000)])
    Self.play(Self.opened + [.expect(.probe, 1000), .expect(.refuse, 120_999), .expect(.pass, 121_000)])
  }

  @Test func `each origin has a circuit of its own`() {
    var breaker = CircuitBreaker()
    Self.play(Self.opened, on: &breaker)
    Self.play([.expect(.pass, 0)], on: &breaker, origin: "http://cdn.example:80")
  }

  @Test func `no more origins are remembered than there is room for, and the latest are`() {
    var breaker = CircuitBreaker()
    for number in 0..<3 * CircuitBreaker.capacity {
      Self.play([.note(.absence, number)], on: &breaker, origin: "https://\(number).example:443")
    }
    #expect(breaker.count <= CircuitBreaker.capacity)
    let latest = 3 * CircuitBreaker.capacity - 1
    Self.play(Self.row(.absence, 9, at: latest) + [.expect(.refuse, latest)], on: &breaker, origin: "https://\(latest).example:443")
  }
}
