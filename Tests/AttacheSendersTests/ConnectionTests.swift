import AttacheQueue
import AttacheTesting
import Glibc
import Synchronization
import Testing

@testable import AttacheSenders

/// Connections that break, stall and end, and hostile servers.
@Suite(.timeLimit(.minutes(2)))
struct ConnectionTests {
  @Test(arguments: [1, 3, 100])
  func `no more streams are open than the server allows, and one connection carries them all`(limit: Int) async throws {
    let server = try await PushServer.startAPNs(maximumStreams: limit)
    try await APNsTest.run(server) { test in
      let answers = await test.answers(to: (0..<200).map { APNsTest.line($0) })
      #expect(answers == Array(repeating: .delivered(status: "200"), count: 200))
      #expect(server.mostStreams <= limit)
      #expect(server.connectionCount == 1)
      #expect(server.requestCount == 200)
    }
  }

  @Test func `a further connection is made while the others have no free stream`() async throws {
    let server = try await PushServer.startAPNs(maximumStreams: 2) { _ in .hold }
    try await APNsTest.run(server) { configuration in
      configuration.connections = 3
    } _: { test in
      test.sender.send((1...7).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await server.waitForHeld(count: 6)
      #expect(server.connectionCount == 3)
      server.release()
      await test.recorder.waitForDelivered(count: 7)
    }
  }

  @Test func `a GOAWAY in the midst loses nothing: what it leaves out is sent again as the same, the rest is answered`() async throws {
    let server = try await PushServer.startAPNs { request in request.connection == 1 ? .hold : .delivered }
    try await APNsTest.run(server) { test in
      test.sender.send((1...10).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await server.waitForHeld(count: 10)
      // The server handles streams 1, 3 and 5, and ignores seven others.
      server.goAway(lastStream: 5)
      await test.recorder.waitForDelivered(count: 7)
      server.release()
      await test.recorder.waitForDelivered(count: 10)
      #expect(test.recorder.answers.values.allSatisfy { $0 == [.delivered(status: "200")] })
      #expect(server.attempts.count == 10)
      #expect(server.attempts.values.filter { $0 == 2 }.count == 7)
      #expect(server.connectionCount == 2)
    }
  }

  @Test func `a GOAWAY that closes at once has what was looked at tried again, with the reason that it gives`() async throws {
    let server = try await PushServer.startAPNs { request in request.connection == 1 ? .hold : .delivered }
    try await APNsTest.run(server) { test in
      test.sender.send((1...4).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await server.waitForHeld(count: 4)
      server.goAway(lastStream: 3, reason: "Shutdown", closes: true)
      await test.recorder.waitForAnswers(count: 4)
      let lost = test.recorder.answers.values.filter { answers in
        if case .retry(nil, let reason) = answers.first { reason.hasSuffix("(Shutdown)") } else { false }
      }
      #expect(lost.count == 2)
      #expect(test.recorder.answers.values.filter { $0 == [.delivered(status: "200")] }.count == 2)
    }
  }

  @Test func `a server that goes away before the first request is asked again`() async throws {
    let server = try await PushServer.startAPNs()
    try await APNsTest.run(server) { test in
      test.sender.send([APNsTest.delivery(1, APNsTest.line(1))])
      await server.waitForConnections(count: 1)
      server.goAway(lastStream: 0)
      await test.recorder.waitForDelivered(count: 1)
      #expect(test.recorder.answers == [1: [.delivered(status: "200")]])
    }
  }

  @Test func `a stream that is refused is sent again by itself, and at last the deliverer's to decide`() async throws {
    let server = try await PushServer.startAPNs { request in
      request.deviceToken.hasSuffix("7") || request.attempt <= 3 ? .refusedStream : .delivered
    }
    try await APNsTest.run(server) { test in
      let answers = await test.answers(to: [APNsTest.line(1), APNsTest.line(7)])
      #expect(answers.first == .delivered(status: "200"))
      #expect(answers.last == .retry(after: nil, reason: "the server refused the stream 6 times"))
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `a stream that breaks is tried again`() async throws {
    let server = try await PushServer.startAPNs { _ in .brokenStream }
    try await APNsTest.run(server) { test in
      let answers = await test.answers(to: [APNsTest.line(1)])
      #expect(answers == [.retry(after: nil, reason: "the server aborted the request: INTERNAL_ERROR")])
    }
  }

  /// How many payloads the killed server gets: `APNS_PAYLOADS`, which scripts/apns-kills sets.
  private static let payloads = unsafe getenv("APNS_PAYLOADS").flatMap { unsafe Int(String(cString: $0)) } ?? 2_000
  private static let kills = 10

  @Test func `a server that is killed ten times loses no payload, and a second try is recognisable`() async throws {
    // Between two kills the server accepts a share of the payloads, and then stops answering.
    let progress = Mutex((kills: 0, taken: 0))
    let server = try await PushServer.startAPNs(maximumStreams: 200, keepsRequests: false) { _ in
      progress.withLock { progress in
        progress.taken += 1
        return progress.kills < Self.kills && progress.taken > Self.payloads / 15 ? .hold : .delivered
      }
    }
    try await APNsTest.run(server) { test in
      let deliveries = (1...Int64(Self.payloads)).map { APNsTest.delivery($0, APNsTest.line(Int($0))) }
      test.recorder.sendAgain(deliveries, by: test.sender)
      for _ in 0..<Self.kills {
        await server.waitForHeld(count: 1)
        progress.withLock { progress in progress = (progress.kills + 1, 0) }
        try await server.restart()
      }
      await test.recorder.waitForDelivered(count: Self.payloads)
      let identifiers = Set(deliveries.map { PushIdentifier(queue: "sqlite:/push.db", payload: $0.token.id).text })
      #expect(Set(server.delivered.keys) == identifiers)
      #expect(Set(server.attempts.keys) == identifiers)
      #expect(server.connectionCount > Self.kills)
      #expect(test.recorder.restarts >= Self.kills)
      #expect(server.requestCount > Self.payloads)
    }
  }

  @Test func `a server that falls silent is noticed, and what it has is tried again`() async throws {
    let server = try await PushServer.startAPNs { request in request.connection == 1 ? .hold : .delivered }
    try await APNsTest.run(server) { configuration in
      configuration.timeLimits.silence = .milliseconds(40)
      configuration.timeLimits.sign = .milliseconds(40)
    } _: { test in
      test.sender.send((1...3).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await server.waitForHeld(count: 3)
      await server.freeze()
      await test.recorder.waitForAnswers(count: 3)
      let reason = "the connection was lost before the answer: the server no longer responds"
      #expect(test.recorder.answers.values.allSatisfy { $0 == [.retry(after: nil, reason: reason)] })
      test.sender.send([APNsTest.delivery(4, APNsTest.line(4))])
      await test.recorder.waitForDelivered(count: 1)
    }
  }

  @Test func `a request that stays unanswered on a connection that lives is given up alone`() async throws {
    let server = try await PushServer.startAPNs { request in request.deviceToken.hasSuffix("1") ? .hold : .delivered }
    try await APNsTest.run(server) { configuration in
      configuration.timeLimits.silence = .milliseconds(20)
      configuration.timeLimits.answer = .milliseconds(120)
    } _: { test in
      test.sender.send([APNsTest.delivery(1, APNsTest.line(1))])
      await server.waitForHeld(count: 1)
      test.sender.send([APNsTest.delivery(2, APNsTest.line(2))])
      await test.recorder.waitForAnswers(count: 2)
      #expect(test.recorder.answers[1] == [.retry(after: nil, reason: "there was no answer in time")])
      #expect(test.recorder.answers[2] == [.delivered(status: "200")])
      test.sender.send([APNsTest.delivery(3, APNsTest.line(3))])
      await test.recorder.waitForDelivered(count: 2)
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `a connection that answers PING but no request is replaced`() async throws {
    let server = try await PushServer.startAPNs { request in request.connection == 1 && request.stream > 3 ? .hold : .delivered }
    try await APNsTest.run(server) { configuration in
      configuration.timeLimits.silence = .milliseconds(20)
      configuration.timeLimits.answer = .milliseconds(120)
    } _: { test in
      test.sender.send((1...2).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await test.recorder.waitForDelivered(count: 2)
      test.sender.send((3...5).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await test.recorder.waitForAnswers(count: 5)
      let reason = "the connection was lost before the answer: no request was answered for 0 s"
      #expect((3...5).allSatisfy { test.recorder.answers[$0] == [.retry(after: nil, reason: reason)] })
      test.sender.send((6...7).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await test.recorder.waitForDelivered(count: 4)
      #expect(server.connectionCount == 2)
    }
  }

  @Test func `what is cancelled is unanswered, sent or not`() async throws {
    let server = try await PushServer.startAPNs(maximumStreams: 2) { _ in .hold }
    try await APNsTest.run(server) { test in
      test.sender.send((1...5).map { APNsTest.delivery($0, APNsTest.line(Int($0))) })
      await server.waitForHeld(count: 2)
      test.sender.cancel()
      await test.recorder.waitForAnswers(count: 5)
      #expect(test.recorder.answers.values.allSatisfy { $0 == [.unanswered] })
    }
  }

  // MARK: - Servers that mean harm, or are others

  static let floods: [(name: String, answer: PushServerAnswer, fault: String)] = [
    ("header fields", .fields(150), "header fields are longer than 16384 bytes"),
    ("a body", .body(200, [UInt8](repeating: 0x20, count: 100_000)), "body is longer than 4096 bytes"),
    ("endless header fields", .flood(.continuations), ""),
    ("a bomb of header fields", .flood(.bomb), ""),
    ("a promise", .flood(.push), ""),
  ]

  @Test(arguments: floods.indices)
  func `an answer that is too long is given up`(index: Int) async throws {
    let flood = Self.floods[index]
    let server = try await PushServer.startAPNs { request in request.attempt == 1 ? flood.answer : .delivered }
    try await APNsTest.run(server) { test in
      guard case .retry(nil, let reason) = await test.answers(to: [APNsTest.line(1)]).first else {
        return #expect(Bool(false), "\(flood.name): \(test.recorder.answers)")
      }
      #expect(flood.fault.isEmpty || reason.contains(flood.fault), "\(flood.name)")
      test.sender.send([APNsTest.delivery(1, APNsTest.line(1))])
      await test.recorder.waitForDelivered(count: 1)
    }
  }

  @Test(arguments: [
    PushServer.Fault.http1, .plainGarbage(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
  ])
  func `a server that is none of Apple's is refused at once`(fault: PushServer.Fault) async throws {
    let server = try await PushServer.startAPNs(fault: fault)
    try await APNsTest.run(server) { test in
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("127.0.0.1:\(server.port) cannot be reached: "))
      #expect(test.recorder.notices == [reason])
    }
  }

  @Test(arguments: [
    PushServer.Fault.silence, .silenceAfterHandshake, .garbage(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
    .garbage([UInt8](repeating: 0xFF, count: 4_096)), .garbage([]),
  ])
  func `a server that says nothing, or nothing sensible, is given up after a while`(fault: PushServer.Fault) async throws {
    let server = try await PushServer.startAPNs(fault: fault)
    try await APNsTest.run(server) { configuration in
      configuration.timeLimits.connecting = .milliseconds(100)
      configuration.timeLimits.unreachable = .milliseconds(150)
    } _: { test in
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason.hasPrefix("127.0.0.1:\(server.port) cannot be reached: "))
      #expect(test.recorder.notices.count == 1)
    }
  }

  @Test(arguments: [
    FaultOrigin.TLS.selfSigned, .expired, .notYetValid, .misnamed("api.push.apple.com"), .commonName("127.0.0.1"), .clientCertificate,
    .version11,
  ])
  func `a certificate that is not good, or not for the host, is refused in words`(tls: FaultOrigin.TLS) async throws {
    let server = try await PushServer.startAPNs(tls: tls)
    try await APNsTest.run(server) { test in
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      let said = reason.contains("certificate") || reason.contains("TLS: ")
      #expect(said, "\(reason)")
      #expect(server.requestCount == 0)
    }
  }

  @Test func `the system's roots do not vouch for a server of one's own`() async throws {
    let server = try await PushServer.startAPNs()
    try await APNsTest.run(server) { configuration in
      configuration.rootCertificates = nil
    } _: { test in
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason.contains("the server's certificate was rejected: "))
    }
  }

  @Test func `a server that is not there is told of once, and what waits for too long is handed back`() async throws {
    let server = try await PushServer.startAPNs()
    let port = server.port
    try await APNsTest.run(server) { configuration in
      configuration.timeLimits.unreachable = .milliseconds(30)
    } _: { test in
      await server.stop()
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason == "127.0.0.1:\(port) cannot be reached: connect: Connection refused")
      #expect(test.recorder.notices == [reason])
    }
  }
}
