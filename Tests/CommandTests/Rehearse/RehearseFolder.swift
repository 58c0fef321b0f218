import Foundation

/// A temporary folder of scenarios, and the tool that rehearses them.
struct RehearseFolder {
  /// The output of `--json`.
  struct Record: Decodable {
    struct Finding: Decodable {
      var kind: String
      var payload: Int?
      var message: String
    }

    struct Payload: Decodable {
      var line: Int
      var outcome: String?
      var reason: String?
      var latenessMs: Double?
    }

    struct Event: Decodable {
      var atMs: Double
      var actor: String
      var text: String
    }

    struct Scenario: Decodable {
      var name: String
      var depth: String
      var seed: UInt64
      var passed: Bool
      var skipped: String?
      var findings: [Finding]
      var payloads: [Payload]
      var timeline: [Event]

      var kinds: [String] { findings.map(\.kind) }
    }

    struct Bucket: Decodable {
      var upToMs: Double?
      var count: Int
    }

    struct Lateness: Decodable {
      var p50Ms: Double?
      var p99Ms: Double?
      var maxMs: Double?
      var histogram: [Bucket]
    }

    var version: Int
    var clock: String
    var elapsedMs: Double
    var notes: [String]?
    var scenarios: [Scenario]
    var lateness: Lateness
  }

  let tool: AttacheTool

  /// Three lines without media.
  static let three = """
    about: Three lines pass.
    payloads:
      - '{"aps":{"alert":"Hello"},"n":1}'
      - '{"aps":{"alert":"Hello"},"n":2}'
      - '{"aps":{"alert":"Hello"},"n":3}'
    deadline: 300ms
    expect: {outcome: passthrough}
    """

  /// Two photos; the second stalls forever.
  static let photos = """
    payloads:
      - '{"aps":{"alert":"Hi","mutable-content":1},"image":"{{origin}}/photo.jpg"}'
      - '{"aps":{"alert":"Hi","mutable-content":1},"image":"{{origin}}/stalls.jpg"}'
    origin:
      /photo.jpg: [send: stand-in-2000.jpg]
      /stalls.jpg: [send: 100 bytes of stand-in-2000.jpg, stall]
    deadline: 800ms
    grace: 300ms
    expect:
      payloads:
        - {outcome: attached, attachments: [{type: public.jpeg, size: 2000}]}
        - {outcome: fallback, reason: deadline}
      requests: {/photo.jpg: 1, /stalls.jpg: 1}
    """

  /// - Parameter scenarios: the text of each by its name.
  init(_ scenarios: [String: String] = ["three-lines-pass": three]) throws {
    tool = try AttacheTool()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, text) in scenarios { try write(text, as: name) }
  }

  var path: String { tool.home["scenarios"] }

  /// A path beside the scenarios.
  subscript(name: String) -> String { tool.home[name] }

  func write(_ scenario: String, as name: String) throws {
    try Data(scenario.utf8).write(to: URL(filePath: "\(path)/\(name).yaml"))
  }

  /// Runs `attache rehearse` over the folder.
  func rehearse(_ arguments: [String]) async throws -> Run {
    try await tool.start(["rehearse", path] + arguments).finished()
  }

  /// Runs `attache rehearse` and reads what `--json` wrote.
  func recorded(_ arguments: [String]) async throws -> (run: Run, record: Record) {
    let run = try await rehearse(arguments + ["--json", self["rehearsal.json"]])
    return (run, try Self.read(self["rehearsal.json"]))
  }

  /// Rehearses a command and returns its record from `--json`.
  func rehearsed(_ command: String, _ arguments: [String] = []) async throws -> (run: Run, record: Record) {
    try await recorded(["--command", command] + arguments)
  }

  static func read(_ path: String) throws -> Record {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Record.self, from: Data(contentsOf: URL(filePath: path)))
  }
}
