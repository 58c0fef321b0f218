import AttacheTesting
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
    let line = try Regex("attache origin: 127\\.0\\.0\\.1:[0-9]+ POST /3/device/\(tokens[0]) to \(tokens[0]): 200\n")
    #expect(log.contains(line), "\(log)")
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

  @Test(arguments: [
    (["--apns"], ["--apns", "--token", String(repeating: "0a", count: 32)], #"{"aps":{"alert":"hi"}}"#, ["AuthKey_ABC123DEFG.p8"]),
    (["--fcm"], ["--fcm"], #"{"message":{"token":"a-token-of-20-bytes-1"}}"#, ["service-account.json", "service-account.key"]),
  ])
  func `a server that keeps its keys accepts the same sender after a kill`(
    service: [String], sender: [String], payload: String, files: [String]
  ) async throws {
    let tool = try AttacheTool()
    let keys = tool.home["keys"]
    let (killed, url, flags) = try await Self.start(tool, service + ["--keys", keys])
    killed.send(SIGKILL)
    #expect(await killed.exit() == .signal(SIGKILL))
    let address = String(url.dropFirst("https://".count))
    let (program, _, laterFlags) = try await Self.start(
      tool, service + ["--keys", keys, "--port", String(address.dropFirst("localhost:".count))])
    #expect(flags == laterFlags)
    let run = try await tool.run(["push", "-"] + sender + ["\(service[0])-host", address] + flags, input: payload)
    #expect(run.exit == .status(0), "\(run.errors)")
    await Self.end(program, without: [])
    let manager = FileManager.default
    #expect(try manager.contentsOfDirectory(atPath: keys).sorted() == (files + ["root.key", "root.pem"]).sorted())
    for (path, mode) in [(keys, 0o700), (keys + "/root.key", 0o600), (keys + "/root.pem", 0o644)] + files.map({ ("\(keys)/\($0)", 0o600) })
    {
      #expect(try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode, "\(path)")
    }
  }

  @Test func `the key of a real account is not replaced`() async throws {
    let tool = try AttacheTool()
    let keys = tool.home["keys"]
    try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
    let file = "\(keys)/service-account.json"
    let text = GoogleAccount().keyFile(tokenURI: "https://oauth2.googleapis.com/token")
    try Data(text.utf8).write(to: URL(filePath: file))
    let run = try await tool.run(["origin", "--fcm", "--keys", keys])
    #expect(run.exit == .status(73))
    #expect(run.errors == "attache origin: cannot use \(file): it has the key of another account; name a folder without it\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }

  @Test(arguments: ["root.key", "root.pem", "AuthKey_ABC123DEFG.p8"])
  func `a file that is no key or certificate is named, with advice`(file: String) async throws {
    let tool = try AttacheTool()
    let keys = tool.home["keys"]
    try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
    try Data("nothing".utf8).write(to: URL(filePath: "\(keys)/\(file)"))
    let run = try await tool.run(["origin", "--apns", "--keys", keys])
    #expect(run.exit == .status(73))
    #expect(
      run.errors.contains("cannot use \(keys)/\(file): it is no") && run.errors.contains("remove it, and a new one is made"),
      "\(run.errors)")
  }

  private static let mistakes: [(arguments: [String], advice: String)] = [
    ([], "Name the folder to serve, or give --apns or --fcm"), (["--apns", "--fcm"], "Give only one of"),
    ([".", "--apns"], "Give only one of"), (["--fcm", "--tls"], "Remove --tls"), (["--fcm", "--topic", "x"], "--topic needs --apns"),
    ([".", "--channel", "x"], "--channel needs --apns"),
    ([".", "--keys", "x"], "--keys needs --apns or --fcm"),
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
