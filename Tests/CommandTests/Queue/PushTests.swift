import AttacheTesting
import Foundation
import Testing
import Tripwire

/// `attache push`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct PushTests {
  private static let token = String(repeating: "0a", count: 32)
  private static let payload = #"{"aps":{"alert":"hi"}}"#

  /// Runs `attache push` against a server.
  private static func push(
    _ server: PushServer, _ tokens: ProviderTokenCheck, _ arguments: [String] = [], input: String = payload, without: Set<String> = [],
    change: (inout Launch) -> Void = { _ in }
  ) async throws -> Run {
    let tool = try AttacheTool()
    let key = tool.home["AuthKey.p8"]
    try tokens.privateKeyPEM.write(toFile: key, atomically: true, encoding: .utf8)
    let flags = [
      "--apns-key": key, "--apns-key-id": tokens.keyID, "--apns-team-id": tokens.teamID, "--apns-host": "127.0.0.1:\(server.port)",
      "--cacert": server.rootCertificatePEMFile, "--apns-topic": "com.example.app", "--token": token,
    ]
    let given = flags.filter { !without.contains($0.key) }.flatMap { [$0.key, $0.value] }
    return try await tool.run(["push", "-", "--apns"] + given + arguments, input: input, change: change)
  }

  @Test func `what Apple takes ends with 0, and the apns-id is named`() async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(server, tokens, input: "{\n  \"aps\": { \"alert\": \"hi\" }\n}\n")
      #expect(run.exit == .status(0))
      let request = try #require(server.requests.first)
      let identifier = try #require(request.field("apns-id"))
      #expect(run.text == "200: Apple has accepted the notification\napns-id: \(identifier)\n")
      #expect(run.errors == "")
      #expect(request.deviceToken == Self.token)
      #expect(request.field("apns-topic") == "com.example.app")
    }
  }

  @Test(arguments: [
    (400, "BadDeviceToken", 65), (410, "Unregistered", 65), (413, "PayloadTooLarge", 65), (403, "InvalidProviderToken", 77),
    (400, "TopicDisallowed", 77), (429, "TooManyRequests", 75), (500, "InternalServerError", 75), (503, "Shutdown", 75),
  ])
  func `what Apple refuses is told in words, and the exit status says whether to try again`(status: Int, reason: String, exit: Int32)
    async throws
  {
    try await withAPNsServer { _ in
      .error(status, reason, timestamp: 1_794_000_000_000, retryAfter: "9")
    } _: { server, tokens in
      let run = try await Self.push(server, tokens)
      #expect(run.exit == .status(exit))
      let lines = run.text.split(separator: "\n")
      try #require(lines.count == 4)
      #expect(lines[0].hasPrefix("\(status) \(reason): ") && lines[0].utf8.count > 30)
      #expect(lines[1].hasPrefix("apns-id: "))
      #expect(lines[2...] == ["timestamp: 1794000000000", "retry-after: 9 s"])
    }
  }

  @Test(arguments: [
    ("", "attache: <stdin> contains no payload; push sends one\n"),
    ("{}\n{}\n", "attache: <stdin> contains several payloads; push sends one\n"),
    ("{\"aps\":", "attache: not sent: the line is not a JSON object\n"),
    (
      "{\"aps\":{\"alert\":\"" + String(repeating: "x", count: 4_096) + "\"}}",
      "attache: not sent: PayloadTooLarge: the payload has 4116 bytes, and APNs accepts 4096; see --max-payload\n"
    ),
  ])
  func `an input that cannot be sent ends with 65`(input: String, errors: String) async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(server, tokens, input: input)
      #expect(run.exit == .status(65))
      #expect(run.text == "")
      #expect(run.errors == errors)
      #expect(server.requestCount == 0)
    }
  }

  @Test(arguments: [
    (["--apns-key-id"], "--apns-key needs --apns-key-id: the ten characters in AuthKey_….p8."),
    (["--apns-team-id"], "--apns-key needs --apns-team-id: the ten characters of your membership at Apple."),
    (["--apns-key"], "--apns needs --apns-key with --apns-key-id and --apns-team-id, or --apns-certificate."),
  ])
  func `a flag that is missing ends with 64`(without: [String], text: String) async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(server, tokens, without: Set(without))
      #expect(run.exit == .status(64))
      #expect(run.errors.hasPrefix("Error: \(text)\n"))
    }
  }

  @Test func `a key that cannot be read, or is none, ends with 65`() async throws {
    try await withAPNsServer { server, tokens in
      let none = try await Self.push(server, tokens, ["--apns-key", "/missing/AuthKey.p8"], without: ["--apns-key"])
      #expect(none.exit == .status(65))
      #expect(none.errors.contains("--apns-key /missing/AuthKey.p8: "))
      #expect(none.errors.contains("it cannot be read: No such file or directory"))
      let wrong = try await Self.push(server, tokens, ["--apns-key", server.rootCertificatePEMFile], without: ["--apns-key"])
      #expect(wrong.exit == .status(65))
      #expect(wrong.errors.contains("it contains no P-256 private key in PEM form"))
    }
  }

  @Test func `a server that cannot be reached, or is another, ends with 69`() async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(server, tokens, ["--apns-host", "127.0.0.1:1"], without: ["--apns-host"])
      #expect(run.exit == .status(69))
      #expect(run.errors == "attache: 127.0.0.1:1 cannot be reached: connect: Connection refused\n")
      let other = try await Self.push(server, tokens, without: ["--cacert"])
      #expect(other.exit == .status(69))
      #expect(other.errors.contains("the server's certificate was rejected: "))
    }
  }

  @Test func `no variable of the environment vouches for a server`() async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(server, tokens, without: ["--cacert"]) { launch in
        launch.environment["SSL_CERT_FILE"] = server.rootCertificatePEMFile
      }
      #expect(run.exit == .status(69))
      #expect(server.requestCount == 0)
    }
  }

  @Test func `a device token that Apple calls invalid is added to the file`() async throws {
    try await withAPNsServer { _ in
      .error(410, "Unregistered", timestamp: 1_794_000_000_000)
    } _: { server, tokens in
      let folder = try TemporaryFolder()
      for _ in 0..<2 {
        #expect(try await Self.push(server, tokens, ["--invalid-tokens", folder["invalid"]]).exit == .status(65))
      }
      let line = #"{"token":"\#(Self.token)","reason":"Unregistered","timestamp":1794000000000}"# + "\n"
      #expect(try String(contentsOfFile: folder["invalid"], encoding: .utf8) == line + line)
    }
  }

  @Test func `a line with a channel is broadcast, and the apns-request-id is named`() async throws {
    let line = #"{"aps":{"event":"update","content-state":{}},"channel":"Y2g="}"#
    try await withAPNsServer(channels: ["Y2g="]) { server, tokens in
      let run = try await Self.push(server, tokens, ["--apns-channel-path", "/channel"], input: line, without: ["--token"])
      #expect(run.exit == .status(0))
      let request = try #require(server.requests.first)
      #expect(run.text == "200: Apple has accepted the notification\napns-request-id: \(request.identifier)\n")
      #expect(request.app == "com.example.app" && request.identifier.utf8.count == 36)
      #expect(String(decoding: request.body, as: UTF8.self) == #"{"aps":{"event":"update","content-state":{}}}"#)
      let both = try await Self.push(server, tokens, ["--apns-channel-path", "/channel"], input: line)
      #expect(both.exit == .status(64))
      #expect(both.errors.hasPrefix("Error: --token and --apns-channel-path name different receivers; give one of them.\n"))
      let unknown = try await Self.push(
        server, tokens, ["--apns-channel-path", "/channel"], input: line.replacing("Y2g=", with: "bm8="), without: ["--token"])
      #expect(unknown.exit == .status(65))
      #expect(unknown.text.hasPrefix("400 ChannelNotRegistered: the channel does not exist"))
    }
  }

  @Test func `attachments with file URLs are not sent, and the user hears of it`() async throws {
    try await withAPNsServer { server, tokens in
      let run = try await Self.push(
        server, tokens, input: #"{"aps":{"alert":"hi"},"attache":{"attachments":[{"url":"file:///s/a.png"}]}}"#)
      #expect(run.exit == .status(0))
      #expect(run.errors == "attache: the attachments have file: URLs, which no device can load: they are not sent; see --base-url\n")
      #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [Self.payload])
    }
  }
}
