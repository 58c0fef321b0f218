@testable import Attache
import Testing

struct DualStackLookupTests {
  private static let v4 = FamilyAnswer.addresses([.v4(1)], lifetime: .seconds(30))
  private static let v6 = FamilyAnswer.addresses([.v6(1)], lifetime: .seconds(20))

  private static func ended(_ result: Result<[IPAddress], DNSFailure>, lifetime: Duration = .zero) -> DualStackLookup.Step {
    .end(DualStackLookup.Answer(result: result, lifetime: lifetime))
  }

  @Test(arguments: [
    (v4, v6, ended(.success([.v6(1), .v4(1)]), lifetime: .seconds(20))),
    (v4, .none, ended(.success([.v4(1)]), lifetime: .seconds(30))),
    (v4, .failure(.failed), ended(.success([.v4(1)]))),
    (.none, v6, ended(.success([.v6(1)]), lifetime: .seconds(20))),
    (.failure(.timeout), v6, ended(.success([.v6(1)]))),
    (.none, .none, ended(.failure(.notFound))),
    (.none, .failure(.failed), ended(.failure(.failed))),
    (.failure(.timeout), .none, ended(.failure(.timeout))),
    (.failure(.timeout), .failure(.failed), ended(.failure(.failed))),
    (.failure(.timeout), .failure(.timeout), ended(.failure(.timeout))),
  ])
  func `the order in which the families answer changes nothing`(_ v4: FamilyAnswer, _ v6: FamilyAnswer, _ step: DualStackLookup.Step) {
    var first = DualStackLookup()
    _ = first.take(v4, of: .v4)
    let last = first.take(v6, of: .v6)
    #expect(last == step)
    var second = DualStackLookup()
    _ = second.take(v6, of: .v6)
    let other = second.take(v4, of: .v4)
    #expect(other == step)
  }

  @Test func `only addresses set the other family a limit`() {
    for answer in [FamilyAnswer.none, .failure(.failed)] {
      var lookUp = DualStackLookup()
      let step = lookUp.take(answer, of: .v6)
      #expect(step == .wait)
    }
    var lookUp = DualStackLookup()
    let step = lookUp.take(Self.v4, of: .v4)
    #expect(step == .waitBriefly)
    #expect(lookUp.conclusion == DualStackLookup.Answer(result: .success([.v4(1)]), lifetime: .zero))
  }
}

struct AnswerCacheTests {
  private let start = MonotonicInstant(nanoseconds: 0)

  private func after(_ duration: Duration) -> MonotonicInstant {
    start.advanced(by: duration)
  }

  @Test func `an answer lives as long as it says, a minute at most`() {
    var cache = AnswerCache()
    cache.keep([.v4(1)], of: "short", for: .seconds(5), at: start)
    cache.keep([.v4(2)], of: "long", for: .seconds(86400), at: start)
    #expect(cache.addresses(of: "short", at: after(.seconds(4))) == [.v4(1)])
    #expect(cache.addresses(of: "short", at: after(.seconds(5))) == nil)
    #expect(cache.addresses(of: "long", at: after(.seconds(59))) == [.v4(2)])
    #expect(cache.addresses(of: "long", at: after(.seconds(60))) == nil)
  }

  @Test func `an answer without lifetime is not kept`() {
    var cache = AnswerCache()
    cache.keep([.v4(1)], of: "name", for: .zero, at: start)
    #expect(cache.count == 0)
  }

  @Test func `a full cache makes room for the new by leaving what ends first`() {
    var cache = AnswerCache(capacity: 4)
    for seconds in 1...5 { cache.keep([.v4(1)], of: "\(seconds)", for: .seconds(seconds), at: start) }
    #expect(cache.count <= 4)
    #expect(cache.addresses(of: "1", at: start) == nil)
    #expect(cache.addresses(of: "5", at: start) != nil)
  }
}
