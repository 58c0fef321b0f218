import AttacheTesting
import Foundation
import Synchronization
import Testing
import Tripwire

/// `attache deliver --fcm` and `attache push --fcm`, by the built tool, to a server that speaks Google's protocol.
@Suite(.timeLimit(.minutes(5)))
struct DeliverFCMTests {
  private static func token(_ number: Int) -> String { String(format: "device-%020d", number) }

  private static func message(_ number: Int) -> String {
    #"{"message":{"token":"\#(token(number))","notification":{"title":"\#(number)"}}}"#
  }

  private func queue(_ count: Int) async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...count).map { Self.message($0) + "\n" }.joined())
    return queue
  }

  private static func flags(_ tool: AttacheTool, _ server: PushServer, _ account: GoogleAccount) throws -> [String] {
    let key = tool.home["service-account.json"]
    try account.keyFile(tokenURI: server.tokenURI).write(toFile: key, atomically: true, encoding: .utf8)
    return [
      "--fcm", "--fcm-service-account", key, "--fcm-host", "localhost:\(server.port)", "--cacert", server.rootCertificatePEMFile,
      "--invalid-tokens", tool.home["invalid"],
    ]
  }

  private func arguments(_ queue: QueueTool, _ server: PushServer, _ account: GoogleAccount) throws -> [String] {
    ["--once"] + (try Self.flags(queue.tool, server, account))
  }

  @Test func `each message goes to its device, and what Google says of it stands in its history`() async throws {
    try await withFCMServer {
      $0.deviceToken == Self.token(3) ? .error(404, "UNREGISTERED") : .delivered
    } _: { server, account in
      let queue = try await queue(50)
      let run = try await queue.run("deliver", arguments(queue, server, account))
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 49, dropped 1, poison 0, expired 0, retried 0 in "))
      #expect(Set(server.requests.map(\.deviceToken)) == Set((1...50).map(Self.token)))
      #expect(try await queue.run("queue", ["--line", "1"]).text.contains("  delivered: 200"))
      #expect(try await queue.run("queue", ["--line", "3"]).text.contains("404 UNREGISTERED: the app was removed from the device"))
      let invalid = try String(contentsOfFile: queue.tool.home["invalid"], encoding: .utf8)
      #expect(invalid == #"{"token":"\#(Self.token(3))","reason":"UNREGISTERED"}"# + "\n")
    }
  }

  @Test func `the key of another project loses nothing, drops nothing and lists no token`() async throws {
    let isRight = Atomic<Bool>(false)
    try await withFCMServer { _ in
      isRight.load(ordering: .relaxed) ? .delivered : .error(403, "SENDER_ID_MISMATCH")
    } _: { server, account in
      let queue = try await queue(8)
      let program = try queue.start("deliver", try arguments(queue, server, account))
      #expect(await program.errors(holding: "paused: ").contains("SENDER_ID_MISMATCH"))
      isRight.store(true, ordering: .relaxed)
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 8, dropped 0, "))
      #expect(try String(contentsOfFile: queue.tool.home["invalid"], encoding: .utf8) == "")
    }
  }

  @Test func `a single token of another project is dropped and listed`() async throws {
    try await withFCMServer {
      $0.deviceToken == Self.token(2) ? .error(403, "SENDER_ID_MISMATCH") : .delivered
    } _: { server, account in
      let queue = try await queue(5)
      let run = try await queue.run("deliver", arguments(queue, server, account))
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered 4, dropped 1, "))
      let invalid = try String(contentsOfFile: queue.tool.home["invalid"], encoding: .utf8)
      #expect(invalid.contains(Self.token(2)) && !invalid.contains(Self.token(1)))
    }
  }

  @Test func `a key that Google does not know pauses the deliverer, and costs no try`() async throws {
    try await withFCMServer { server, _ in
      let queue = try await queue(2)
      let program = try queue.start("deliver", try arguments(queue, server, GoogleAccount()))
      #expect(await program.errors(holding: "paused: ").contains("check the key of --fcm-service-account"))
      program.send(SIGTERM)
      #expect(await program.finished().exit == .status(75))
      #expect(!(try await queue.run("queue", ["--line", "1"]).text.contains("try 1 of the delivery")))
    }
  }

  // MARK: - push

  private static func push(_ server: PushServer, _ account: GoogleAccount, _ input: String, _ arguments: [String] = []) async throws -> Run
  {
    let tool = try AttacheTool()
    return try await tool.run(["push", "-"] + (try flags(tool, server, account)) + arguments, input: input)
  }

  @Test func `push prints what Google says, and the name of the message`() async throws {
    try await withFCMServer { server, account in
      let run = try await Self.push(server, account, "{\n \"message\": {\"topic\": \"news\"}\n}\n")
      #expect(run.exit == .status(0))
      #expect(run.text.hasPrefix("200: Google has accepted the message\nname: projects/example-project/messages/"))
      #expect(run.errors == "")
    }
  }

  @Test(arguments: [
    (404, "UNREGISTERED", 65), (400, "INVALID_ARGUMENT", 65), (403, "SENDER_ID_MISMATCH", 77), (429, "QUOTA_EXCEEDED", 75),
    (503, "UNAVAILABLE", 75), (401, "THIRD_PARTY_AUTH_ERROR", 77),
  ])
  func `what Google refuses is told in words, and the exit status says whether to try again`(status: Int, code: String, exit: Int32)
    async throws
  {
    try await withFCMServer { _ in
      .error(status, code, retryAfter: "9")
    } _: { server, account in
      let run = try await Self.push(server, account, Self.message(1))
      #expect(run.exit == .status(exit))
      #expect(run.text.hasPrefix("\(status) \(code): ") && run.text.hasSuffix("retry-after: 9 s\n"))
    }
  }

  @Test func `a line that is no message, an unknown key and flags that do not fit are told before anything is sent`() async throws {
    try await withFCMServer { server, account in
      let alert = try await Self.push(server, account, #"{"aps":{"alert":"hi"}}"#)
      #expect(alert.exit == .status(65) && alert.errors.contains("not sent: the line is not a message of FCM's HTTP v1 API"))
      let unknown = try await Self.push(server, GoogleAccount(), Self.message(1))
      #expect(unknown.exit == .status(77) && unknown.errors.contains("issues no access token: status 400 (invalid_grant"))
      let token = try await Self.push(server, account, Self.message(1), ["--token", "00"])
      #expect(token.exit == .status(64) && token.errors.contains("--token needs --apns"))
      #expect(server.requestCount == 0)
      let tool = try AttacheTool()
      let noKey = try await tool.run(["push", "-", "--fcm"], input: "")
      #expect(noKey.exit == .status(64) && noKey.errors.contains("--fcm needs --fcm-service-account"))
      let noFile = try await tool.run(["push", "-", "--fcm", "--fcm-service-account", "/nowhere.json"], input: "")
      #expect(noFile.exit == .status(65) && noFile.errors.contains("--fcm-service-account /nowhere.json: it cannot be read: No such file"))
    }
  }

  @Test func `a server that cannot be reached ends push with 69`() async throws {
    try await withFCMServer { server, account in
      let tool = try AttacheTool()
      var flags = try Self.flags(tool, server, account)
      flags[4] = "localhost:1"
      let run = try await tool.run(["push", "-"] + flags, input: Self.message(1))
      #expect(run.exit == .status(69) && run.errors.contains("localhost:1: "))
    }
  }
}
