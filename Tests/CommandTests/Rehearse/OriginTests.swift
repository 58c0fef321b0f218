import Foundation
import Testing

/// `attache origin` as a push service, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct OriginTests {
  /// Starts the command and reads the flags that it advises.
  private static func start(_ tool: AttacheTool, _ arguments: [String]) async throws -> (program: Program, url: String, flags: [String]) {
    let program = try tool.start(["origin"] + arguments)
    let url = try #require(await program.lines(1).first)
    let errors = await program.errors(holding: "flags: ")
    let line = try #require(errors.split(separator: "\n").first { $0.hasPrefix("attache origin: flags: ") })
    return (program, url, line.split(separator: " ").dropFirst(3).map(String.init))
  }

  private static func end(_ program: Program, without files: [String]) async {
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
    #expect(files.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
  }

  @Test func `a push reaches what plays Apple, and the device token selects the answer`() async throws {
    let tool = try AttacheTool()
    let (program, url, flags) = try await Self.start(tool, ["--apns", "--topic", "com.example.other", "--log"])
    #expect(url.wholeMatch(of: /https:\/\/localhost:[0-9]+/) != nil)
    #expect(flags.count == 10 && flags[3].hasSuffix("/AuthKey_ABC123DEFG.p8"))
    #expect(try FileManager.default.attributesOfItem(atPath: flags[3])[.posixPermissions] as? Int == 0o600)
    let tokens = ["0a", "41"].map { String(repeating: $0, count: 32) } + ["410" + String(repeating: "0", count: 61)]
    var statuses: [Program.Exit] = []
    for token in tokens {
      let arguments = ["push", "-", "--apns", "--apns-host", String(url.dropFirst("https://".count)), "--token", token]
      statuses.append(try await tool.run(arguments + flags, input: #"{"aps":{"alert":"hi"}}"#).exit)
    }
    #expect(statuses == [.status(0), .status(0), .status(65)])
    let log = await program.errors(holding: "410 Unregistered")
    #expect(log.contains("attache origin: POST /3/device/\(tokens[0]) to \(tokens[0]): 200\n"))
    await Self.end(program, without: [flags[1], flags[3]])
  }

  @Test func `what plays Google names a root certificate and a service account's key`() async throws {
    let (program, url, flags) = try await Self.start(try AttacheTool(), ["--fcm"])
    #expect(flags.count == 4 && flags[0] == "--cacert" && flags[2] == "--fcm-service-account")
    #expect(try String(contentsOfFile: flags[1], encoding: .utf8).hasPrefix("-----BEGIN CERTIFICATE-----"))
    let file = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: flags[3]))) as? [String: String])
    #expect(file["token_uri"] == url + "/token" && file["type"] == "service_account")
    #expect(try FileManager.default.attributesOfItem(atPath: flags[3])[.posixPermissions] as? Int == 0o600)
    await Self.end(program, without: [flags[1], flags[3]])
  }

  private static let mistakes: [(arguments: [String], advice: String)] = [
    ([], "Name the folder to serve, or give --apns or --fcm"), (["--apns", "--fcm"], "Give only one of"),
    ([".", "--apns"], "Give only one of"), (["--fcm", "--tls"], "Remove --tls"), (["--fcm", "--topic", "x"], "--topic needs --apns"),
    ([".", "--channel", "x"], "--channel needs --apns"),
  ]

  @Test(arguments: mistakes)
  func `a mistake is told with advice`(arguments: [String], advice: String) async throws {
    let run = try await AttacheTool().run(["origin"] + arguments)
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test func `the help lists the answers that a receiver selects`() async throws {
    let text = try await AttacheTool().run(["origin", "--help"]).text
    #expect(text.contains("410  Unregistered") && text.contains("404  UNREGISTERED"))
  }
}
