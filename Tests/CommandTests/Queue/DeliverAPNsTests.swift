import AttacheTesting
import Foundation
import Synchronization
import Testing
import Tripwire

/// `attache deliver --apns`, by the built tool, to a server that speaks Apple's protocol.
/// Under the thread sanitizer, the longest test takes more than a minute.
@Suite(.timeLimit(.minutes(5)))
struct DeliverAPNsTests {
  private static func token(_ number: Int) -> String { String(format: "%064x", number) }

  /// A queue whose payloads have results, with a device token each.
  private func queue(_ count: Int) async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...count).map { #"{"aps":{"alert":"\#($0)"},"device":"\#(Self.token($0))"}"# + "\n" }.joined())
    return queue
  }

  private func arguments(_ queue: QueueTool, _ server: PushServer, _ tokens: ProviderTokenCheck) throws -> [String] {
    let key = queue.tool.home["AuthKey.p8"]
    try tokens.privateKeyPEM.write(toFile: key, atomically: true, encoding: .utf8)
    return arguments(queue, server, ["--apns-key", key, "--apns-key-id", tokens.keyID, "--apns-team-id", tokens.teamID])
  }

  private func arguments(_ queue: QueueTool, _ server: PushServer, _ credentials: [String]) -> [String] {
    credentials + [
      "--once", "--apns", "--apns-host", "127.0.0.1:\(server.port)", "--cacert", server.rootCertificatePEMFile, "--apns-topic",
      "com.example.app", "--apns-token-path", "/device", "--invalid-tokens", queue.tool.home["invalid"],
    ]
  }

  @Test func `each result goes to its device, and what Apple says of it stands in its history`() async throws {
    try await withAPNsServer { request in
      request.deviceToken == Self.token(3) ? .error(410, "Unregistered", timestamp: 1_794_000_000_000, retryAfter: nil) : .delivered
    } _: { server, tokens in
      let queue = try await queue(50)
      let run = try await queue.run("deliver", arguments(queue, server, tokens))
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 49, dropped 1, poison 0, expired 0, retried 0 in "))
      #expect(Set(server.requests.map(\.deviceToken)) == Set((1...50).map(Self.token)))
      #expect(Set(server.requests.compactMap { $0.field("apns-id") }).count == 50)
      #expect(try await queue.run("queue", ["--line", "1"]).text.contains("  delivered: 200"))
      #expect(try await queue.run("queue", ["--line", "3"]).text.contains("Unregistered"))
      let invalid = try String(contentsOfFile: queue.tool.home["invalid"], encoding: .utf8)
      #expect(invalid.contains(Self.token(3)) && invalid.contains("Unregistered"))
    }
  }

  @Test func `a key that Apple does not accept pauses the deliverer, and costs no try`() async throws {
    let isAccepted = Atomic<Bool>(false)
    try await withAPNsServer { _ in
      isAccepted.load(ordering: .relaxed) ? .delivered : .error(403, "InvalidProviderToken", timestamp: nil, retryAfter: nil)
    } _: { server, tokens in
      let queue = try await queue(5)
      let program = try queue.start("deliver", try arguments(queue, server, tokens))
      #expect(await program.errors(holding: "paused: ").contains("InvalidProviderToken"))
      isAccepted.store(true, ordering: .relaxed)
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 5, dropped 0, poison 0, expired 0, retried 0 in "))
    }
  }

  @Test func `a client certificate takes the place of a provider token`() async throws {
    try await withAPNsServer(tls: .clientCertificate) { server, _ in
      let queue = try await queue(20)
      let file = try server.makeClientCertificateFile()
      let run = try await queue.run("deliver", arguments(queue, server, ["--apns-certificate", file]))
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 20, dropped 0, poison 0, expired 0, retried 0 in "))
      #expect(Set(server.requests.map(\.deviceToken)) == Set((1...20).map(Self.token)))
      #expect(server.requests.allSatisfy { $0.field("authorization") == nil && $0.field("apns-topic") == "com.example.app" })
    }
  }

  @Test func `a client certificate that the server does not accept pauses the deliverer, and costs no try`() async throws {
    try await withAPNsServer(tls: .clientCertificate) { server, _ in
      try await withAPNsServer(tls: .clientCertificate) { other, _ in
        let queue = try await queue(5)
        let file = try other.makeClientCertificateFile()
        let program = try queue.start("deliver", arguments(queue, server, ["--apns-certificate", file]))
        #expect(await program.errors(holding: "paused: ").contains("the server does not accept the client's certificate: "))
        program.send(SIGTERM)
        #expect(await program.finished().exit == .status(75))
        #expect(server.requestCount == 0)
        #expect(try await queue.state().unread == 5)
        #expect(!(try await queue.run("queue", ["--line", "1"]).text.contains("try ")))
      }
    }
  }

  @Test func `a server that is killed costs nothing but time, and duplicates have one apns-id`() async throws {
    try await withAPNsServer { server, tokens in
      let queue = try await queue(2_000)
      let program = try queue.start("deliver", try arguments(queue, server, tokens))
      for kill in 1...3 {
        await server.waitForRequests(count: 300 * kill)
        try await server.restart()
      }
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 2000, dropped 0, poison 0, expired 0"))
      let identifiers = Dictionary(grouping: server.requests, by: \.deviceToken).mapValues { Set($0.compactMap { $0.field("apns-id") }) }
      #expect(identifiers.count == 2_000)
      #expect(identifiers.values.allSatisfy { $0.count == 1 })
    }
  }
}
