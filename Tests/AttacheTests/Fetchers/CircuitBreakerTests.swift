import Testing

@testable import Attache

@Suite struct CircuitBreakerTests {
  private static let origin = "https://cdn.example:443"

  /// A breaker and its clock. All times are in milliseconds.
  private final class Play {
    var breaker = CircuitBreaker()

    func at(_ time: Int) -> MonotonicInstant {
      MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds(time))
    }

    /// A request fails.
    ///
    /// - Parameter start: when its first exchange began; nil for now.
    func fail(_ target: String = "/a", at time: Int, from start: Int? = nil, by signal: OriginHealthSignal = .silence) {
      breaker.note(OriginHealth(signal, since: at(start ?? time)), of: origin, target: target, at: at(time))
    }

    /// Requests fail at these times.
    func fail(_ target: String = "/a", times: some Sequence<Int>, by signal: OriginHealthSignal = .silence) {
      for time in times { fail(target, at: time, by: signal) }
    }

    func answer(_ target: String = "/b", at time: Int) {
      breaker.note(OriginHealth(.life, since: at(time)), of: origin, target: target, at: at(time))
    }

    func refusal(of target: String = "/a", at time: Int, jitter: Double = 0, origin: String = origin) -> BreakerRefusal? {
      if case .refuse(let refusal) = breaker.admit(target, of: origin, at: at(time), jitter: jitter) { refusal } else { nil }
    }

    func passes(_ target: String = "/a", at time: Int) -> Bool { refusal(of: target, at: time) == nil }
  }

  @Test func `the request that opens a circuit and the answer that closes it say so, and no other`() {
    let play = Play()
    func note(_ health: OriginHealth, at time: Int) -> BreakerChange? {
      play.breaker.note(health, of: Self.origin, target: "/a", at: play.at(time))
    }
    let times = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10_000, 10_001].map { note(OriginHealth(.silence, since: play.at($0)), at: $0) }
    #expect(times.compactMap(\.self) == [.opened(failures: 10, duration: .seconds(10))])
    #expect(times[9] != nil)
    #expect([10_002, 10_003].map { note(OriginHealth(.life, since: play.at($0)), at: $0) } == [.closed, nil])
  }

  @Test func `sixteen openings a minute are told, and the closing of each of them`() {
    let play = Play()
    var ledger = BreakerLedger()
    let opening = BreakerChange.opened(failures: 10, duration: .seconds(10))
    let openings = (0..<20).filter { ledger.tells(opening, of: "\($0)", at: play.at(0)) }
    let closings = (0..<20).filter { ledger.tells(.closed, of: "\($0)", at: play.at(1)) }
    #expect(openings == Array(0..<16) && closings == openings)
    let (again, soon, later) = (
      ledger.tells(.closed, of: "3", at: play.at(2)), ledger.tells(opening, of: "3", at: play.at(59_999)),
      ledger.tells(opening, of: "3", at: play.at(60_000))
    )
    #expect((again, soon, later) == (false, false, true))
  }

  /// Ten failures, of which the last comes after ten seconds, open the circuit at 10,000.
  private static var opened: Play {
    let play = Play()
    play.fail(times: (0..<9).map { $0 * 1000 } + [10_000])
    return play
  }

  // MARK: When it opens

  @Test func `ten failures over ten seconds open the circuit, and nothing less does`() {
    let play = Self.opened
    #expect(!play.passes(at: 10_000))
    for times in [
      (0..<8).map { $0 * 1000 } + [10_000],  // nine
      (0..<9).map { $0 * 1000 } + [9_999],  // within less than ten seconds
      [0],
      Array(repeating: 0, count: 1000),
    ] {
      let play = Play()
      play.fail(times: times)
      #expect(play.passes(at: 10_000), "\(times)")
    }
  }

  @Test func `a single answer keeps the circuit closed, however many requests fail`() {
    let play = Play()
    for time in stride(from: 0, to: 300_000, by: 50) {
      #expect(play.passes("/good", at: time) && play.passes("/bad", at: time))
      if time % 9_950 == 0 { play.answer(at: time) } else { play.fail("/bad", at: time) }
    }
  }

  @Test func `a pause of more than ten seconds begins a new row`() {
    let play = Play()
    play.fail(times: Array(repeating: 0, count: 9) + [10_001])
    #expect(play.passes(at: 10_001))
    play.fail(times: (0..<9).map { 11_000 + $0 * 1000 } + [20_001])
    #expect(play.refusal(of: "/a", at: 20_001)?.failures == 11)
  }

  @Test func `requests that time out show that nothing came since they were sent`() {
    let play = Play()
    for _ in 0..<10 { play.fail(at: 25_000, from: 0) }
    #expect(play.refusal(at: 25_000)?.duration == .seconds(25))
    let answered = Play()
    answered.answer(at: 16_000)
    for _ in 0..<10 { answered.fail(at: 25_000, from: 0) }
    #expect(answered.passes(at: 25_000))
    answered.fail(at: 26_000, from: 1_000)
    #expect(answered.refusal(at: 26_000)?.duration == .seconds(10))
  }

  @Test func `a request that claims to be sent in the future began now`() {
    let play = Play()
    for time in 0...10 { play.fail(at: time * 1000, from: 1_000_000) }
    #expect(!play.passes(at: 10_000))
  }

  // MARK: What it refuses

  @Test func `the parts that failed are refused, the others are not`() {
    let play = Self.opened
    for target in ["/a", "/a?x=1", "/a/b.jpg", "/a/"] { #expect(!play.passes(target, at: 10_000)) }
    for target in ["/", "/b", "/ab", "/b/a", "/?a"] { #expect(play.passes(target, at: 10_000)) }
  }

  @Test func `when no connection can be made, every part is refused`() {
    let play = Play()
    play.fail(times: (0..<9).map { $0 * 1000 })
    play.fail(at: 10_000, by: .absence)
    #expect(!play.passes("/b", at: 10_000))
  }

  @Test func `when many parts failed, every part is refused`() {
    for (parts, isWhole) in [(8, false), (9, true)] {
      let play = Play()
      for number in 0...10 { play.fail("/\(number % parts)", at: number * 1000) }
      #expect(play.passes("/other", at: 10_000) == !isWhole)
      #expect(!play.passes("/1", at: 10_000))
    }
  }

  @Test func `each origin has a circuit of its own`() {
    let play = Self.opened
    #expect(play.refusal(at: 10_000, origin: "http://cdn.example:80") == nil)
  }

  // MARK: How it closes

  @Test func `an answer closes the circuit at once`() {
    let play = Self.opened
    play.answer(at: 10_001)
    #expect(play.passes(at: 10_001))
    play.fail(times: Array(repeating: 20_000, count: 100))
    #expect(play.passes(at: 20_000))
  }

  @Test func `one request a second is let through, even while others hang`() {
    let play = Self.opened
    let passed = stride(from: 10_000, to: 20_000, by: 50).filter { play.passes(at: $0) }
    #expect(passed == Array(stride(from: 11_000, to: 20_000, by: 1000)))
    // Requests that come late do not shift the others.
    #expect(play.passes(at: 20_400) && !play.passes(at: 20_999) && play.passes(at: 21_000))
    #expect(play.passes(at: 30_000) && !play.passes(at: 30_999))
  }

  @Test func `a failed probe leaves the circuit open, and counts`() {
    let play = Self.opened
    #expect(play.passes(at: 11_000))
    play.fail(at: 11_001)
    #expect(play.refusal(at: 11_002)?.failures == 11)
    // A minute passes before the next request.
    #expect(play.passes(at: 70_000))
    play.fail(at: 70_001)
    #expect(play.refusal(at: 70_002)?.duration == .milliseconds(70_002))
  }

  @Test func `a stranger's failing requests do not keep the others of an origin from it`() {
    // The origin was down for ten seconds and is back. A stranger asks for one broken path twenty
    // times a second, and hangs there.
    let play = Play()
    for time in stride(from: 0, to: 10_050, by: 50) { play.fail("/\(time / 50 % 8)", at: time) }
    var refused = 0
    for time in stride(from: 10_050, to: 20_000, by: 50) {
      _ = play.passes("/1?\(time)", at: time)
      if time % 500 == 0 {
        if play.passes("/photos/\(time).jpg", at: time) { play.answer(at: time + 10) } else { refused += 1 }
      }
    }
    #expect(refused == 0)
  }

  @Test(arguments: [OriginHealthSignal.silence, .absence])
  func `an origin that is back is asked again soon, whatever a stranger asks for`(_ signal: OriginHealthSignal) {
    // Everything failed, and a stranger hangs at one path, before the others in each interval.
    for number in 0..<50 {
      let play = Play()
      for time in stride(from: 0, to: 10_050, by: 50) { play.fail(time % 100 == 0 ? "/broken" : "/photos", at: time, by: signal) }
      var back: Int?
      for time in stride(from: 10_050, to: 60_000, by: 50) where back == nil {
        _ = play.passes("/broken?\(time)", at: time)
        if time % 500 == 0, play.passes("/photos/\(number).jpg", at: time) { back = time }
      }
      #expect(back.map { $0 < 40_000 } == true)
    }
  }

  @Test func `a flood of requests of all parts gets few a second through`() {
    let play = Play()
    for part in 0..<20 { play.answer("/\(part)", at: 0) }
    for time in stride(from: 0, to: 10_050, by: 50) { play.fail("/\(time)", at: time) }
    let passed = stride(from: 10_050, to: 20_050, by: 1).count { play.passes("/\($0 % 200)", at: $0) }
    let most = CircuitBreaker.probeLanes + 1
    #expect(passed <= 10 * most && passed >= 9 * most)
  }

  @Test func `a part that answered is let through beside a stranger's many broken parts, however seldom it is asked for`() {
    for parts in [1, 8, 9, 100, 100_000] {
      let play = Play()
      play.answer("/photos", at: 0)
      var (refused, asked) = (0, 0)
      // The origin is down for twenty seconds. Then /photos answers again.
      for time in stride(from: 50, to: 200_000, by: 50) {
        let target = "/\(time / 50 % parts)"
        if play.passes(target, at: time) { play.fail(target, at: time) }
        guard time % 15_000 == 0 else { continue }
        guard play.passes("/photos/\(time).jpg", at: time) else {
          refused += 1
          continue
        }
        asked += 1
        if time < 20_000 { play.fail("/photos", at: time) } else { play.answer("/photos", at: time + 10) }
      }
      #expect(refused == 0 && asked == 13, "\(parts) parts: \(refused) refused")
    }
  }

  @Test func `only the latest parts that answered have a turn of their own`() {
    let play = Play()
    for number in 0...CircuitBreaker.maximumAnswers { play.answer("/\(number)", at: number) }
    for time in stride(from: 1_000, through: 11_000, by: 50) { play.fail("/\(time)", at: time) }
    // In each interval, a flood has taken the turns of all others.
    let second = 12_100
    for time in 0..<100 { _ = play.passes("/flood-\(time)", at: second) }
    #expect(!play.passes("/0", at: second), "forgotten for the ninth")
    #expect(play.passes("/1", at: second))
    #expect(!play.passes("/8", at: second), "the others share it")
    for time in 0..<100 { _ = play.passes("/flood-\(time)", at: second + 1_000) }
    #expect(play.passes("/8", at: second + 1_000))
  }

  // MARK: What it says

  @Test func `a refusal says how long the origin has failed, how often, and when a request is let through`() {
    let play = Self.opened
    #expect(
      play.refusal(at: 10_300)
        == BreakerRefusal(
          origin: Self.origin, failures: 10, duration: .milliseconds(10_300), nextProbe: .milliseconds(700), retryAfter: .milliseconds(700))
    )
    let failure = FetchFailure(
      BreakerRefusal(
        origin: Self.origin, failures: 12, duration: .milliseconds(61_500), nextProbe: .microseconds(400_001), retryAfter: .seconds(3)))
    #expect(failure.reason == .policyBreaker && failure.retryAfter == .seconds(3))
    #expect(
      failure.message
        == "https://cdn.example:443 has failed for 61 s, in 12 requests in a row; the next request is let through in 401 ms; repair the origin, and attache resumes by itself"
    )
  }

  @Test func `refused requests are asked to come again one after the other, within half a minute`() {
    let play = Self.opened
    for turn in 1..<30 { #expect(play.refusal(at: 10_000, jitter: 0.5)?.retryAfter == .seconds(turn)) }
    for _ in 0..<1000 { #expect(play.refusal(at: 10_000, jitter: 0.5)?.retryAfter == .milliseconds(22_500)) }
    #expect(play.refusal(at: 10_000, jitter: 0)?.retryAfter == .seconds(15))
    #expect(play.refusal(at: 10_000, jitter: 1)?.retryAfter == .seconds(30))
    play.answer(at: 10_500)
    play.fail(times: (0..<9).map { 11_000 + $0 * 1000 } + [21_000])
    #expect(play.refusal(at: 21_000)?.retryAfter == .seconds(1))
  }

  @Test func `the states are counted, those forgotten left out`() {
    let play = Self.opened
    play.breaker.note(OriginHealth(.life), of: "alive", target: "/", at: play.at(10_000))
    var expected = BreakerStates()
    (expected.closed, expected.open) = (1, 1)
    #expect(play.breaker.states(at: play.at(10_000)) == expected)
    #expect(play.passes(at: 11_000))
    (expected.open, expected.probing) = (0, 1)
    #expect(play.breaker.states(at: play.at(11_000)) == expected)
    play.breaker.note(OriginHealth(), of: Self.origin, target: "/a", at: play.at(11_500))
    (expected.open, expected.probing) = (1, 0)
    #expect(play.breaker.states(at: play.at(11_500)) == expected)
    #expect(play.breaker.states(at: play.at(131_000)) == BreakerStates())
  }

  // MARK: What it remembers

  @Test func `an origin that was not heard of for two minutes is forgotten`() {
    let play = Self.opened
    #expect(play.passes(at: 130_000) && play.passes(at: 130_001))
  }

  @Test func `no more origins are remembered than there is room for, and the latest are`() {
    let play = Self.opened
    for number in 0..<3 * CircuitBreaker.capacity {
      play.breaker.note(OriginHealth(.silence), of: "https://\(number).example:443", target: "/", at: play.at(10_000 + number))
      play.fail(at: 10_000 + number)
    }
    #expect(play.breaker.count <= CircuitBreaker.capacity)
    #expect(!play.passes(at: 10_000))
  }
}
