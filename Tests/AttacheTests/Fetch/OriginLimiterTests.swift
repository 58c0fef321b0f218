import Testing

@testable import Attache

@Suite struct OriginLimiterTests {
  private final class Guest: OriginLimiterClient {
    var isQueued = false
  }

  @Test func `guests beyond the places wait, first come first served, each origin for itself`() {
    var limiter = OriginLimiter<Guest> { _ in 2 }
    let guests = (0..<5).map { _ in Guest() }
    let mayStart = guests.prefix(4).map { limiter.enter("a", $0) } + [limiter.enter("b", guests[4])]
    #expect(mayStart == [.starts, .starts, .waitsForOrigin, .waitsForOrigin, .starts])
    let next = (0..<4).map { _ in limiter.leave("a") }
    #expect(next.map { guest in guests.firstIndex { $0 === guest } } == [2, 3, nil, nil])
    let isFreeAgain = limiter.enter("a", guests[0])
    #expect(isFreeAgain == .starts)
  }

  @Test func `a guest that gives up is not called`() {
    var limiter = OriginLimiter<Guest> { _ in 1 }
    let guests = (0..<3).map { _ in Guest() }
    let mayStart = guests.map { limiter.enter("a", $0) }
    #expect(mayStart == [.starts, .waitsForOrigin, .waitsForOrigin])
    limiter.giveUp("a", guests[1])
    let next = limiter.leave("a")
    #expect(next === guests[2])
  }

  @Test func `those who have given up are not held, and those behind them keep their order`() {
    var limiter = OriginLimiter<Guest> { _ in 1 }
    #expect(limiter.enter("a", Guest()) == .starts)
    var impatient: [Guest] = (0..<10_000).map { _ in Guest() }
    let patient = (0..<10).map { _ in Guest() }
    for (index, guest) in impatient.enumerated() {
      _ = limiter.enter("a", guest)
      if index % 1_000 == 500 { _ = limiter.enter("a", patient[index / 1_000]) }
    }
    for guest in impatient { limiter.giveUp("a", guest) }
    weak let first = impatient[0]
    impatient = []
    #expect(first == nil)
    let next = patient.map { _ in limiter.leave("a") }
    #expect(zip(next, patient).allSatisfy { $0 === $1 })
    #expect(limiter.leave("a") == nil)
  }

  @Test func `guests beyond the places in all wait, and no origin waits for another's queue`() {
    var limiter = OriginLimiter<Guest>(placesInAll: 3) { _ in 2 }
    let guests = (0..<7).map { _ in Guest() }
    let answers = zip(["a", "a", "a", "b", "b", "c", "c"], guests).map { limiter.enter($0, $1) }
    #expect(answers == [.starts, .starts, .waitsForOrigin, .starts, .waitsForAny, .waitsForAny, .waitsForAny])
    let next = ["a", "a", "b", "b", "c", "c", "a"].map { origin in
      limiter.leave(origin).map { guest in guests.firstIndex { $0 === guest } }
    }
    #expect(next == [4, 5, 6, 2, nil, nil, nil])
    #expect((0..<3).map { limiter.enter("\($0)", guests[$0]) } == [.starts, .starts, .starts])
  }

  @Test func `a guest that is set aside gives its place to the next, as long as not too many are`() {
    var limiter = OriginLimiter<Guest> { _ in 2 }
    let guests = (0..<12).map { _ in Guest() }
    for guest in guests { _ = limiter.enter("a", guest) }
    let started = (0..<9).map { _ in limiter.setAside("a") }
    #expect(started.map(\.isAside) == Array(repeating: true, count: 8) + [false])
    #expect(started.prefix(8).map { answer in guests.firstIndex { $0 === answer.next } } == Array(2..<10))
    // A stalled transfer that ends frees no connection of the origin.
    #expect(limiter.leave("a", isAside: true) == nil)
    #expect(limiter.leave("a") === guests[10])
    #expect(limiter.setAside("a").next === guests[11])
    for _ in 0..<8 { #expect(limiter.leave("a", isAside: true) == nil) }
    // Two are admitted: the last two.
    #expect(limiter.enter("a", Guest()) == .waitsForOrigin)
  }

  @Test func `a guest that is set aside counts among all`() {
    var limiter = OriginLimiter<Guest>(placesInAll: 2) { _ in 1 }
    let guests = (0..<4).map { _ in Guest() }
    #expect(zip(["a", "b", "a", "c"], guests).map { limiter.enter($0, $1) } == [.starts, .starts, .waitsForOrigin, .waitsForAny])
    let answer = limiter.setAside("a")
    #expect(answer.isAside && answer.next == nil)
    #expect(limiter.leave("b") === guests[3])
    #expect(limiter.leave("c") === guests[2])
  }

  @Test(arguments: [(1_024, 1, 298), (1_024, 4, 70), (1_048_576, 1, 349_482), (20, 1, 1), (0, 64, 1)])
  func `a limit of descriptors leaves each engine room for so many connections`(_ descriptors: Int, _ engines: Int, _ transfers: Int) {
    #expect(ConnectionBudget(descriptors: descriptors, engines: engines).transfers == transfers)
  }
}
