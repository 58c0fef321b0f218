import Attache
import AttacheTesting
import Foundation
import Testing

/// `attache inspect`: its input, its output and its exit status.
@Suite(.timeLimit(.minutes(1)))
struct InspectCommandTests {
  private static let article = #"{"aps":{"alert":"Hello","mutable-content":1},"image":"https://cdn.example/a.jpg"}"#

  /// The objects of `--json`.
  private func objects(_ arguments: [String], input: String, tool: AttacheTool? = nil) async throws -> [[String: Any]] {
    let run = try await (tool ?? AttacheTool()).run(["inspect", "--json"] + arguments, input: input)
    #expect(run.exit == .status(0))
    #expect(run.errors == "")
    return try run.text.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
  }

  @Test func `each payload has one object, in order, invalid ones included, and the status is 0`() async throws {
    let objects = try await objects([], input: "\(Self.article)\n\nhello\n{\n  \"aps\": {\"content-available\": 1}\n}\n{\"aps\":\n")
    #expect(objects.map { $0["line"] as? Int } == [1, 3, 4, 7])
    #expect(objects.map { $0["kind"] as? String } == ["alert", "invalid", "silent", "invalid"])
  }

  @Test func `a file is read as standard input is`() async throws {
    let tool = try AttacheTool()
    try Self.article.write(toFile: tool.home["payloads.json"], atomically: true, encoding: .utf8)
    let file = try await tool.run(["inspect", tool.home["payloads.json"]])
    #expect(file.text == (try await tool.run(["inspect"], input: Self.article)).text)
    #expect(file.text == (try await tool.run(["inspect", "-"], input: Self.article)).text)
    #expect(file.text.hasPrefix("Line 1 is an alert: “Hello”\n  A service extension runs for it:"))
  }

  @Test(arguments: [("/nowhere/payloads.json", "No such file or directory"), ("/", "Is a directory")])
  func `a file that cannot be read ends with 74 and says why`(path: String, why: String) async throws {
    for command in ["inspect", "lint"] {
      let run = try await AttacheTool().run([command, path])
      #expect(run.exit == .status(74))
      #expect(run.output == [])
      #expect(run.errors == "attache: \(path): \(why)\n")
    }
  }

  @Test func `an output that is full ends with 74`() async throws {
    for command in [["inspect"], ["lint"], ["dialects"]] {
      let run = try await AttacheTool().run(command, input: "{\n") { $0.output = .file("/dev/full") }
      #expect(run.exit == .status(74), "\(command)")
    }
  }

  @Test func `the filter's flags decide what is found and what the gates say`() async throws {
    let line = #"{"data":{"aps":{"alert":"Hello","mutable-content":1},"x":"http://127.0.0.1:8080/a.png"}}"#
    let flags = ["--payload-path", "/data", "--media-key", "x"]
    let shut = try #require(try await objects(flags, input: line).first?["media"] as? [[String: Any]]).first
    #expect((shut?["gates"] as? [[String: Any]])?.map { $0["passes"] as? Bool } == [true, false, false])
    #expect((shut?["gates"] as? [[String: Any]])?.map { $0["reason"] as? String } == [nil, "policy.scheme", "policy.address"])
    let open = try #require(try await objects(flags + AttacheTool.loopback, input: line).first?["media"] as? [[String: Any]]).first
    #expect((open?["gates"] as? [[String: Any]])?.map { $0["passes"] as? Bool } == [true, true, true])
  }

  @Test func `nothing is looked up or fetched without --fetch`() async throws {
    let tool = try AttacheTool()
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let input = Sample.payload(origin.url("/a.png"))
      let object = try #require(try await objects(AttacheTool.loopback, input: input, tool: tool).first)
      #expect((object["media"] as? [[String: Any]])?.first?["fetch"] == nil)
      #expect(!FileManager.default.fileExists(atPath: tool.store))
    }
  }

  @Test func `--fetch says what became of each reference`() async throws {
    let tool = try AttacheTool()
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let urls = #"["\#(origin.url("/a.png"))","\#(origin.url("/gone.png"))","http://10.0.0.1/x.png"]"#
      let line = #"{"aps":{"alert":"Hello","mutable-content":1},"image":\#(urls)}"#
      let silent = #"{"aps":{"content-available":1},"image":"\#(origin.url("/a.png"))"}"#
      let objects = try await objects(["--fetch"] + AttacheTool.loopback, input: line + "\n" + silent, tool: tool)
      let media = try #require(objects.first?["media"] as? [[String: Any]])
      let fetches = media.map { $0["fetch"] as? [String: Any] }
      #expect(fetches.map { $0?["type"] as? String } == ["public.png", nil, nil])
      #expect(fetches.map { $0?["reason"] as? String } == [nil, "http.status", "policy.address"])
      #expect(fetches.map { $0?["status"] as? Int } == [200, 404, nil])
      #expect(fetches.first.flatMap { $0?["total_ms"] as? Double } != nil)
      #expect((objects.last?["media"] as? [[String: Any]])?.first?["fetch"] == nil)
      let text = try await tool.run(["inspect", "--fetch", "--cache", "off"] + AttacheTool.loopback, input: line).text
      #expect(text.contains("Fetched: status 200, public.png, 242 bytes"), "\(text)")
      #expect(text.contains("Not attached (http.status): "), "\(text)")
      #expect(try tool.storedFiles().count == 1)
    }
  }

  @Test func `--fetch tries further URLs, and says what became of each`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let urls = #"{"url":"\#(origin.url("/gone.png"))","fallback_url":"\#(origin.url("/a.png"))"}"#
      let line = #"{"aps":{"alert":"Hello","mutable-content":1},"_p":"1","_sw":{"media":\#(urls)}}"#
      let object = try #require(try await objects(["--fetch"] + AttacheTool.loopback, input: line).first)
      let medium = try #require((object["media"] as? [[String: Any]])?.first)
      #expect((medium["fetch"] as? [String: Any])?["reason"] as? String == "http.status")
      let fallback = (medium["fallbacks"] as? [[String: Any]])?.first
      #expect((fallback?["fetch"] as? [String: Any])?["type"] as? String == "public.png")
    }
  }

  @Test func `--fetch ends at the deadline`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.stall(afterBytes: 100)])
      let input = Sample.payload(origin.url("/a.png"))
      let objects = try await objects(["--fetch", "--deadline", "300ms"] + AttacheTool.loopback, input: input)
      let media = try #require(objects.first?["media"] as? [[String: Any]])
      #expect((media.first?["fetch"] as? [String: Any])?["reason"] as? String == "deadline")
    }
  }

  @Test func `a store that cannot be ends with 73`() async throws {
    let run = try await AttacheTool().run(["inspect", "--fetch", "--store", "/dev/null/store"], input: Self.article)
    #expect(run.exit == .status(73))
    #expect(run.errors.contains("/dev/null/store"))
  }

  @Test(arguments: [("xterm", nil, true), ("dumb", nil, false), ("xterm", "1", false)] as [(String, String?, Bool)])
  func `a terminal has colours unless its user wants none`(kind: String, plain: String?, isColoured: Bool) async throws {
    let terminal = try Terminal()
    let program = try AttacheTool().start(["inspect"]) { launch in
      launch.output = .descriptor(terminal.program)
      launch.environment["TERM"] = kind
      launch.environment["NO_COLOR"] = plain
    }
    program.input.write(Array(#"{"aps":{"alert":"\u001b[2JHello","badge":"\u009b31m","mutable-content":1}}"#.utf8))
    program.input.close()
    terminal.closeProgramSide()
    #expect(await program.exit() == .status(0))
    let text = await terminal.everything()
    #expect(text.contains("\u{1B}[1m") == isColoured)
    #expect(!text.contains("\u{1B}[2J") && !text.contains("\u{9B}"))
  }

  @Test func `a closed pipe ends it as it ends any filter`() async throws {
    let program = try AttacheTool().start(["inspect"])
    program.input.write(Array(Self.article.utf8) + [UInt8(ascii: "\n")])
    #expect(await !program.lines(1).isEmpty)
    program.input.close()
    #expect(await program.exit() == .status(0))
  }
}
