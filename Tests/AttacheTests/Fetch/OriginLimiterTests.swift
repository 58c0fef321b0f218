import Testing

@testable import Attache

@Suite struct OriginLimiterTests {
  private final class Client: OriginLimiterClient {
    var isQueued = false
  }

  @Test func `clients beyond the places wait, first come first served, each origin for itself`() {
    var limiter = OriginLimiter<Client> { _ in 2 }
    let clients = (0..<5).map { _ in Client() }
    let mayStart = clients.prefix(4).map { limiter.enter("a", $0) } + [limiter.enter("b", clients[4])]
    #expect(mayStart == [.starts, .starts, .waitsForOrigin, .waitsForOrigin, .starts])
    let next = (0..<4).map { _ in limiter.leave("a") }
    #expect(next.map { client in clients.firstIndex { $0 === client } } == [2, 3, nil, nil])
    let isFreeAgain = limiter.enter("a", clients[0])
    #expect(isFreeAgain == .starts)
  }

  @Test func `a client that gives up is not called`() {
    var limiter = OriginLimiter<Client> { _ in 1 }
    let clients = (0..<3).map { _ in Client() }
    let mayStart = clients.map { limiter.enter("a", $0) }
    #expect(mayStart == [.starts, .waitsForOrigin, .waitsForOrigin])
    limiter.giveUp("a", clients[1])
    let next = limiter.leave("a")
    #expect(next === clients[2])
  }

  @Test func `those who have given up are not held, and those behind them keep their order`() {
    var limiter = OriginLimiter<Client> { _ in 1 }
    #expect(limiter.enter("a", Client()) == .starts)
    var impatient: [Client] = (0..<10_000).map { _ in Client() }
    let patient = (0..<10).map { _ in Client() }
    for (index, client) in impatient.enumerated() {
      _ = limiter.enter("a", client)
      if index % 1_000 == 500 { _ = limiter.enter("a", patient[index / 1_000]) }
    }
    for client in impatient { limiter.giveUp("a", client) }
    weak let first = impatient[0]
    impatient = []
    #expect(first == nil)
    let next = patient.map { _ in limiter.leave("a") }
    #expect(zip(next, patient).allSatisfy { $0 === $1 })
    #expect(limiter.leave("a") == nil)
  }

  @Test func `clients beyond the places in all wait, and no origin waits for another's queue`() {
    var limiter = OriginLimiter<Client>(placesInAll: 3) { _ in 2 }
    let clients = (0..<7).map { _ in Client() }
    let answers = zip(["a", "a", "a", "b", "b", "c", "c"], clients).map { limiter.enter($0, $1) }
    #expect(answers == [.starts, .starts, .waitsForOrigin, .starts, .waitsForAny, .waitsForAny, .waitsForAny])
    let next = ["a", "a", "b", "b", "c", "c", "a"].map { origin in
      limiter.leave(origin).map { client in clients.firstIndex { $0 === client } }
    }
    #expect(next == [4, 5, 6, 2, nil, nil, nil])
    #expect((0..<3).map { limiter.enter("\($0)", clients[$0]) } == [.starts, .starts, .starts])
  }

  @Test func `a client that is set aside gives its place to the next, as long as not too many are`() {
    var limiter = OriginLimiter<Client> { _ in 2 }
    let clients = (0..<12).map { _ in Client() }
    for client in clients { _ = limiter.enter("a", client) }
    let started = (0..<9).map { _ in limiter.setAside("a") }
    #expect(started.map(\.isAside) == Array(repeating: true, count: 8) + [false])
    #expect(started.prefix(8).map { answer in clients.firstIndex { $0 === answer.next } } == Array(2..<10))
    // A stalled transfer that ends frees no connection of the origin.
    #expect(limiter.leave("a", isAside: true) == nil)
    #expect(limiter.leave("a") === clients[10])
    #expect(limiter.setAside("a").next === clients[11])
    for _ in 0..<8 { #expect(limiter.leave("a", isAside: true) == nil) }
    // Two are admitted: the last two.
    #expect(limiter.enter("a", Client()) == .waitsForOrigin)
  }

  @Test func `a client that is set aside counts among all`() {
    var limiter = OriginLimiter<Client>(placesInAll: 2) { _ in 1 }
    let clients = (0..<4).map { _ in Client() }
    #expect(zip(["a", "b", "a", "c"], clients).map { limiter.enter($0, $1) } == [.starts, .starts, .waitsForOrigin, .waitsForAny])
    let answer = limiter.setAside("a")
    #expect(answer.isAside && answer.next == nil)
    #expect(limiter.leave("b") === clients[3])
    #expect(limiter.leave("c") === clients[2])
  }

  @Test(arguments: [(1_024, 1, 298), (1_024, 4, 70), (1_048_576, 1, 349_482), (20, 1, 1), (0, 64, 1)])
  func `a limit of descriptors leaves each engine room for so many connections`(_ descriptors: Int, _ engines: Int, _ transfers: Int) {
    #expect(ConnectionBudget(descriptors: descriptors, engines: engines).transfers == transfers)
  }
}
