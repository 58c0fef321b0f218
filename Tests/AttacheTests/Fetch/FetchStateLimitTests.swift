import Testing

@testable import Attache

/// The limits of a fetch, the proxy, and the index.
extension FetchStateTests {
  // MARK: Limits

  @Test(arguments: [(400, true), (600, false)])
  func `the kind is heard of between two tries, too`(length: Int, isAllowed: Bool) throws {
    var state = try Self.state()
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: \(length)", "ETag: \"v1\""), at: nil), .proceed), (.body(100), .proceed),
        (Self.end(), .pause(after: FetchFailure(reason: .httpTruncated), asked: nil)),
        (.recognised(.png), isAllowed ? .proceed : .stop),
      ])
    #expect(state.failure?.reason == (isAllowed ? nil : .sizeImage))
  }

  @Test func `a body is broken off at its limit, by its length or by its bytes`() throws {
    let tooLarge = "the file is larger than 1000 bytes, the largest limit; shrink it"
    for rows in [
      [(.head(Self.head(200, "Content-Length: 1001"), at: nil), .stop)],
      [(.head(Self.head(200, "Transfer-Encoding: chunked"), at: nil), .proceed), (.body(1_000), .proceed), (.body(1), .stop)],
    ] as [[(Event, Action)]] {
      var state = try Self.state()
      play(&state, Self.toTransfer + rows + [(Self.end(), Self.failure(.sizeLimit, tooLarge))])
    }
  }

  @Test func `the kind of the file narrows its limit`() throws {
    var state = try Self.state()
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: 600"), at: nil), .proceed), (.body(100), .proceed), (.recognised(.png), .stop),
      ])
    #expect(state.failure?.reason == .sizeImage)
  }

  @Test func `the first failure counts`() throws {
    var state = try Self.state()
    let broken = FetchFailure(reason: .typeBroken)
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: 600"), at: nil), .proceed), (.body(100), .proceed), (.refused(broken), .stop),
        (.recognised(.png), .stop), (Self.end(.httpTruncated), .fail(broken)),
      ])
  }

  // MARK: Behind a proxy

  @Test func `behind a proxy its name is resolved, and its own refusal is named`() throws {
    let proxy = try #require(try? Proxy("http://proxy.example:3128"))
    var state = try Self.state(proxy: proxy)
    play(
      &state,
      [
        (.begun, .resolve(host: "proxy.example")), (.resolved(.success([.v4(0x0A00_0001)])), .enter),
        (.placeGranted, .transfer),
        (.head(Self.head(407), at: nil), .stop), (Self.end(), .fail(FetchFailure(proxyStatus: 407))),
      ])
    var unknown = try Self.state(proxy: proxy)
    play(&unknown, [(.begun, .resolve(host: "proxy.example"))])
    guard case .fail(let failure) = unknown.handle(.resolved(.failure(.notFound))) else {
      Issue.record("the fetch continues")
      return
    }
    #expect(failure.reason == .connectProxy && failure.message.hasPrefix("the proxy: "))
  }

  // MARK: The index

  @Test func `a fresh answer is served without a request`() throws {
    var state = try Self.state(index: true)
    play(&state, [(.begun, .lookUp), (.lookedUp(.fresh(Self.entry())), .serve(Self.entry(), as: .hit))])
  }

  @Test func `a request that is refused is answered by a fresh entry, and by nothing that needs its host`() throws {
    let refusal = FetchFailure(reason: .policyBreaker, message: "it is down")
    var fresh = try Self.state(index: true, refusal: refusal)
    play(&fresh, [(.begun, .lookUp), (.lookedUp(.fresh(Self.entry())), .serve(Self.entry(), as: .hit))])
    for answer in [.nothing(IndexKey("a"), hasRow: false), .fenced(Self.entry()), .stale(Self.entry())] as [HTTPCache.LookupResult] {
      var miss = try Self.state(index: true, refusal: refusal)
      play(&miss, [(.begun, .lookUp), (.lookedUp(answer), .fail(refusal))])
    }
    var alone = try Self.state(refusal: refusal)
    play(&alone, [(.begun, .fail(refusal))])
  }

  @Test func `a fresh answer whose host is not open to everybody is served behind the address gate`() throws {
    var state = try Self.state(index: true)
    play(
      &state,
      [
        (.begun, .lookUp), (.lookedUp(.fenced(Self.entry())), .resolve(host: "cdn.example")),
        (.resolved(.success([Self.public1])), .confirm(Self.file)), (.confirmed(true), .serve(Self.entry(), as: .hit)),
      ])
    var gone = try Self.state(index: true)
    play(
      &gone,
      [
        (.begun, .lookUp), (.lookedUp(.fenced(Self.entry())), .resolve(host: "cdn.example")),
        (.resolved(.success([Self.public1])), .confirm(Self.file)), (.confirmed(false), .enter),
      ])
    #expect(gone.conditions.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a stale answer is asked about`(isThere: Bool) throws {
    var state = try Self.state(index: true)
    play(&state, [(.begun, .lookUp), (.lookedUp(.stale(Self.entry())), .resolve(host: "cdn.example"))] + Self.toTransfer.dropFirst())
    #expect(state.conditions == ["If-None-Match: \"v1\""])
    play(
      &state,
      [
        (.head(Self.head(304, "ETag: \"v1\""), at: .seconds(1)), .proceed), (Self.end(), .confirm(Self.file)),
        (.confirmed(isThere), isThere ? .serve(Self.entry(), as: .revalidated) : .resolve(host: "cdn.example")),
      ])
    #expect(state.conditions.isEmpty == !isThere)
  }

  @Test func `a redirect is looked up anew, a further try is not`() throws {
    var state = try Self.state(index: true)
    play(
      &state,
      [(.begun, .lookUp), (.lookedUp(.nothing(IndexKey("a"), hasRow: false)), .resolve(host: "cdn.example"))] + Self.toTransfer.dropFirst()
        + [
          (Self.end(.connectReset), .pause(after: FetchFailure(reason: .connectReset), asked: nil))
        ] + Self.toTransfer + [
          (.head(Self.head(302, "Location: https://other.example/b.jpg"), at: .zero), .stop), (Self.end(), .lookUp),
          (.lookedUp(.nothing(IndexKey("a"), hasRow: false)), .resolve(host: "other.example")),
        ])
    #expect(state.tries == 0)
  }

  @Test func `a 304 that breaks off is asked for again, with its condition`() throws {
    var state = try Self.state(index: true)
    play(
      &state,
      [(.begun, .lookUp), (.lookedUp(.stale(Self.entry())), .resolve(host: "cdn.example"))] + Self.toTransfer.dropFirst() + [
        (.head(Self.head(304, "ETag: \"v1\""), at: .seconds(1)), .proceed),
        (Self.end(.connectReset), .pause(after: FetchFailure(reason: .connectReset), asked: nil)),
      ])
    #expect(state.conditions == ["If-None-Match: \"v1\""])
  }

  @Test func `a 304 of another file is no answer`() throws {
    var state = try Self.state(index: true)
    play(
      &state,
      [(.begun, .lookUp), (.lookedUp(.stale(Self.entry())), .resolve(host: "cdn.example"))] + Self.toTransfer.dropFirst() + [
        (.head(Self.head(304, "ETag: \"v2\""), at: .seconds(1)), .proceed), (Self.end(), .resolve(host: "cdn.example")),
      ])
    #expect(state.conditions.isEmpty)
  }
}
