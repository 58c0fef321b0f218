import Testing

@testable import Attache

/// The state machine of a fetch, as tables: each row is an event and the expected actions.
@Suite struct FetchStateTests {
  typealias Event = FetchState.Event
  typealias Action = FetchState.Action

  static let start = "https://cdn.example/a.jpg"
  static let public1 = IPAddress.v4(0x5DB8_D822)
  static let public2 = IPAddress.v4(0x5DB8_D823)
  static let file = StoredFile(StoreName(digest: [UInt8](repeating: 7, count: 32), type: .png), size: 10)

  static func state(
    _ url: String = start, proxy: Proxy? = nil, index: Bool = false, largest: Int = 1_000, refusal: FetchFailure? = nil
  ) throws -> FetchState {
    let gate = URLGate(URLPolicy(proxy: proxy))
    let limits = MediaLimits(image: largest / 2, audio: largest, video: largest)
    let rules = FetchState.Rules(gate: gate, proxy: proxy, limits: DownloadLimits(limits), hasIndex: index)
    return FetchState(try gate.check(url), rules, refusal: refusal)
  }

  static func head(_ status: Int, _ fields: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in ["HTTP/1.1 \(status) X"] + fields + [""] {
      var bytes = Array((line + "\r\n").utf8)
      _ = unsafe bytes.withUnsafeMutableBytes { unsafe head.add(UnsafeRawBufferPointer($0)) }
    }
    return head
  }

  static func end(_ failure: Reason? = nil, after: Duration? = nil) -> Event {
    .ended(TransferEnd(failure: failure, times: TransferTimes(), retryAfter: after))
  }

  static func failure(_ reason: Reason, _ message: String = "") -> Action {
    .fail(FetchFailure(reason: reason, message: message))
  }

  static func entry(tag: String? = "\"v1\"", expiry: Duration = .seconds(100)) -> CacheEntry {
    CacheEntry(
      key: IndexKey(start), file: file, fields: CacheFields(), entityTag: tag, expiry: expiry, pixels: 100, isPublic: true, lastUse: 0)
  }

  /// Sends the events to a fetch, row by row.
  func play(
    _ state: inout FetchState, _ rows: [(Event, Action)], location: SourceLocation = #_sourceLocation
  ) {
    for (number, (event, action)) in rows.enumerated() {
      #expect(state.handle(event) == action, "row \(number + 1)", sourceLocation: location)
    }
  }

  /// The events up to the request.
  static let toTransfer: [(Event, Action)] = [
    (.begun, .resolve(host: "cdn.example")), (.resolved(.success([public1, public2])), .enter),
    (.placeGranted, .transfer),
  ]

  /// The events up to the pause after a body that broke off after 4 of its 10 bytes.
  static let toBrokenBody: [(Event, Action)] =
    toTransfer + [
      (.head(head(200, "Content-Length: 10", "ETag: \"v1\""), at: nil), .proceed), (.body(4), .proceed),
      (end(), .pause(after: FetchFailure(reason: .httpTruncated), asked: nil)),
    ]

  // MARK: The way to the origin

  @Test func `a file comes by look-up, check, place and transfer`() throws {
    var state = try Self.state()
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: 10"), at: nil), .proceed), (.body(4), .proceed), (.recognised(.png), .proceed),
        (.body(6), .proceed), (Self.end(), .finish), (.stored(Self.file), .handOut(Self.file)),
      ])
    #expect(state.isOver && state.received == 10 && state.tries == 1)
  }

  @Test func `what is not awaited is ignored, and behind the end everything is`() throws {
    let all: [Event] = [
      .begun, .lookedUp(.nothing(IndexKey("a"), hasRow: false)), .resolved(.success([Self.public1])), .confirmed(true),
      .placeGranted,
      .head(Self.head(200), at: nil), .body(1), .refused(FetchFailure(reason: .typeBroken)), Self.end(), .stored(Self.file),
    ]
    var state = try Self.state()
    play(&state, all.dropFirst().map { ($0, .none) })
    play(&state, [(.failed(FetchFailure(reason: .cancelled)), Self.failure(.cancelled))])
    play(&state, (all + [.recognised(.png), .failed(FetchFailure(reason: .internal))]).map { ($0, .none) })
    #expect(state.isOver)
  }

  @Test func `an address in the URL is looked up by nobody`() throws {
    var state = try Self.state("https://93.184.216.34/a.jpg")
    play(&state, [(.begun, .enter)])
  }

  @Test func `one private address in an answer refuses the host`() throws {
    var state = try Self.state()
    play(&state, Self.toTransfer.prefix(1).map { $0 })
    guard case .fail(let failure) = state.handle(.resolved(.success([Self.public1, .v4(0x0A00_0001)]))) else {
      Issue.record("the fetch continues")
      return
    }
    #expect(failure.reason == .policyAddress && state.isOver)
  }

  @Test func `each try begins with another address`() throws {
    var state = try Self.state()
    play(&state, Self.toTransfer)
    #expect(state.addressesInTurn == [Self.public1, Self.public2])
    play(&state, [(Self.end(.connectRefused), .pause(after: FetchFailure(reason: .connectRefused), asked: nil))] + Self.toTransfer)
    #expect(state.addressesInTurn == [Self.public2, Self.public1] && state.tries == 2)
  }

  // MARK: Redirects

  @Test(arguments: [
    ("/b.jpg", Action.resolve(host: "cdn.example")), ("https://other.example/b.jpg", .resolve(host: "other.example")),
    ("/a.jpg", failure(.httpRedirect, "the redirects form a loop")),
  ])
  func `a redirect begins again, unless it leads back`(location: String, action: Action) throws {
    var state = try Self.state()
    play(&state, Self.toTransfer + [(.head(Self.head(302, "Location: \(location)"), at: nil), .stop), (Self.end(), action)])
    #expect(state.isRedirected == !state.isOver)
  }

  @Test(arguments: ["http://cdn.example/b.jpg", "https://10.0.0.1/b.jpg", "ftp://cdn.example/b.jpg"])
  func `a redirect passes the gates again`(location: String) throws {
    var state = try Self.state()
    play(&state, Self.toTransfer + [(.head(Self.head(302, "Location: \(location)"), at: nil), .stop)])
    guard case .fail(let failure) = state.handle(Self.end()) else {
      Issue.record("the fetch continues")
      return
    }
    #expect(failure.reason == .policyRedirect)
  }

  @Test func `five redirects are followed, and no sixth`() throws {
    var state = try Self.state()
    for hop in 1...5 {
      play(
        &state,
        (hop == 1 ? Self.toTransfer : Array(Self.toTransfer.dropFirst())) + [
          (.head(Self.head(302, "Location: /\(hop)"), at: nil), .stop), (Self.end(), .resolve(host: "cdn.example")),
        ])
    }
    play(
      &state,
      Self.toTransfer.dropFirst() + [
        (.head(Self.head(302, "Location: /6"), at: nil), .stop), (Self.end(), Self.failure(.httpRedirect, "more than 5 redirects")),
      ])
  }

  // MARK: Further tries

  @Test(arguments: [
    (Reason.connectRefused, true), (.connectReset, true), (.httpTruncated, true), (.tlsCertificate, false), (.tlsHost, false),
    (.tlsHandshake, false),
    (.httpFraming, false), (.httpProtocol, false),
  ])
  func `what may pass by itself is tried again`(reason: Reason, isTriedAgain: Bool) throws {
    var state = try Self.state()
    let failure = FetchFailure(reason: reason)
    play(&state, Self.toTransfer + [(Self.end(reason), isTriedAgain ? .pause(after: failure, asked: nil) : .fail(failure))])
  }

  @Test(arguments: [(404, false), (410, false), (429, true), (500, true), (503, true)])
  func `a status is tried again where another answer may come`(status: Int, isTriedAgain: Bool) throws {
    var state = try Self.state()
    let failure = FetchFailure(.httpStatus, status: status, tries: 1)
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(status), at: nil), .stop), (Self.end(), isTriedAgain ? .pause(after: failure, asked: nil) : .fail(failure)),
      ])
  }

  @Test func `a body that breaks off is taken up again with its validator`() throws {
    var state = try Self.state()
    play(&state, Self.toBrokenBody)
    #expect(state.resumption?.offset == 4 && state.resumption?.validator == "\"v1\"" && state.body == 1)
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(206, "Content-Range: bytes 4-9/10", "ETag: \"v1\""), at: nil), .proceed), (.body(6), .proceed),
        (Self.end(), .finish),
      ])
    #expect(state.received == 10 && state.body == 1)
  }

  @Test(arguments: ["", "ETag: W/\"v1\"", "Accept-Ranges: none"])
  func `without a strong validator a body begins anew`(field: String) throws {
    var state = try Self.state()
    play(
      &state,
      Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: 10", field.isEmpty ? "X: y" : field), at: nil), .proceed), (.body(4), .proceed),
        (Self.end(), .pause(after: FetchFailure(reason: .httpTruncated), asked: nil)),
      ])
    #expect(state.resumption == nil && state.received == 0 && state.body == 2)
  }

  @Test func `the rest of another file is refused`() throws {
    var state = try Self.state()
    play(
      &state,
      Self.toBrokenBody + Self.toTransfer + [
        (.head(Self.head(206, "Content-Range: bytes 4-19/20", "ETag: \"v1\""), at: nil), .stop), (Self.end(), Self.failure(.httpFraming)),
      ])
  }

  @Test func `a whole answer to a request for the rest is a body of its own`() throws {
    var state = try Self.state()
    play(
      &state,
      Self.toBrokenBody + Self.toTransfer + [
        (.head(Self.head(200, "Content-Length: 8", "ETag: \"v2\""), at: nil), .proceed), (.body(8), .proceed), (Self.end(), .finish),
      ])
    #expect(state.body == 2 && state.received == 8)
  }

  @Test func `a part of another file is refused`() throws {
    var state = try Self.state()
    play(
      &state,
      Self.toBrokenBody + Self.toTransfer + [
        (.head(Self.head(206, "Content-Range: bytes 4-9/10", "ETag: \"v2\""), at: nil), .stop), (Self.end(), Self.failure(.httpFraming)),
      ])
  }

  @Test func `after a doubtful end HTTP 2 is avoided`() throws {
    var state = try Self.state()
    var doubtful = TransferEnd(failure: .httpTruncated, times: TransferTimes(), retryAfter: nil)
    doubtful.isDoubtful = true
    play(&state, Self.toTransfer + [(.ended(doubtful), .pause(after: FetchFailure(reason: .httpTruncated), asked: nil))])
    #expect(state.avoidsHTTP2)
  }

  @Test func `what the address gate stops at the socket fails as a policy`() throws {
    let refused = TransferEnd(
      failure: .connectFailed, refusal: Refusal(.policyAddress, "it is private"), times: TransferTimes(), retryAfter: nil)
    var state = try Self.state()
    play(&state, Self.toTransfer + [(.ended(refused), Self.failure(.policyAddress, "it is private"))])
    var redirected = try Self.state()
    play(
      &redirected,
      Self.toTransfer + [(.head(Self.head(302, "Location: /b.jpg"), at: nil), .stop), (Self.end(), .resolve(host: "cdn.example"))]
        + Self.toTransfer.dropFirst() + [(.ended(refused), Self.failure(.policyRedirect, "redirected: it is private"))])
  }

  @Test func `bytes without a head are no HTTP`() throws {
    var state = try Self.state()
    play(&state, Self.toTransfer + [(.body(1), .stop), (Self.end(), Self.failure(.httpProtocol))])
  }
}
