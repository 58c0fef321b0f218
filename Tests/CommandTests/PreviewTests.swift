import AttacheTesting
import Foundation
import Testing

/// `attache preview`: its files, its errors, and what it leaves. `scripts/preview-pages` opens its
/// pages in a browser.
@Suite(.timeLimit(.minutes(1)))
struct PreviewTests {
  private static func payload(_ text: String, _ url: String? = nil) -> String {
    #"{"aps":{"alert":"\#(text)","mutable-content":1}\#(url.map { #","image":"\#($0)""# } ?? "")}"#
  }

  /// Writes payloads, runs a preview of them, and returns the run and the JSON in the page.
  private func preview(
    _ tool: AttacheTool, _ payloads: String, to output: String = "page.html", _ options: [String] = [],
    flags: [String] = AttacheTool.loopback
  ) async throws -> (run: Run, content: [String: Any]) {
    let path = tool.home["payloads.ndjson"]
    try payloads.write(toFile: path, atomically: true, encoding: .utf8)
    let run = try await tool.run(["preview", path, "-o", tool.home[output]] + options + ["--"] + flags)
    #expect(run.exit == .status(0), "\(run.errors)")
    return (run, try Self.content(of: tool.home[output.hasSuffix(".html") ? output : output + "/index.html"]))
  }

  private static func content(of page: String) throws -> [String: Any] {
    let text = try String(contentsOfFile: page, encoding: .utf8)
    let start = try #require(text.range(of: #"id="data">"#)?.upperBound)
    let json = text[start...].prefix { $0 != "<" }
    return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
  }

  private static func items(_ content: [String: Any]) throws -> [[String: Any]] {
    try #require(content["items"] as? [[String: Any]])
  }

  @Test func `a page contains its media, and shows strangers' text as text`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let (_, content) = try await preview(tool, Self.payload("</script><b>", origin.url("/a")) + "\n")
      let item = try Self.items(content)[0]
      #expect(item["outcome"] as? String == "attached")
      let after = try #require(item["after"] as? [String: Any])
      #expect(after["body"] as? String == "</script><b>")
      let name = try #require((after["media"] as? [String])?.first)
      #expect((item["before"] as? [String: Any])?["media"] as? [String] == [])
      let file = try #require((content["files"] as? [String: [String: Any]])?[name])
      let picture = Data(try Sample.medium("picture.png"))
      #expect(file["url"] as? String == "data:image/png;base64," + picture.base64EncodedString())
      // The store of the run is gone, too.
      #expect(!FileManager.default.fileExists(atPath: tool.store))
    }
  }

  @Test func `a folder has the media beside its page`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let (_, content) = try await preview(tool, Self.payload("Hi", origin.url("/a")), to: "folder")
      let file = try #require((content["files"] as? [String: [String: Any]])?.values.first)
      let url = try #require(file["url"] as? String)
      #expect(try Array(Data(contentsOf: URL(fileURLWithPath: tool.home["folder/" + url]))) == Sample.medium("picture.png"))
    }
  }

  @Test func `a run's report and output make the same page without a fetch`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let lines = Self.payload("Hi", origin.url("/a")) + "\n" + Self.payload("Ho", origin.url("/none")) + "\n"
      let (input, output) = (tool.home["input"], tool.home["output"])
      try lines.write(toFile: input, atomically: true, encoding: .utf8)
      let run = try await tool.run(
        ["--report", tool.report, "--base-url", "https://cdn.example/", "--attach-as", "url"] + AttacheTool.loopback, input: lines)
      try run.text.write(toFile: output, atomically: true, encoding: .utf8)
      let requests = origin.requestCount()
      let page = tool.home["page.html"]
      let preview = try await tool.run(["preview", "--report", tool.report, "--input", input, output, "-o", page])
      #expect(preview.exit == .status(0), "\(preview.errors)")
      #expect(origin.requestCount() == requests)
      let content = try Self.content(of: page)
      #expect(try Self.items(content).map { $0["outcome"] as? String } == ["attached", "fallback"])
      #expect(try Self.items(content).map { $0["reason"] as? String } == [nil, "http.status"])
      #expect((content["files"] as? [String: [String: Any]])?.values.first?["url"] as? String != nil)
    }
  }

  @Test func `a pretty-printed payload has the line where it begins, and what is no payload is shown as such`() async throws {
    let tool = try AttacheTool()
    let (_, content) = try await preview(tool, "\n{\n \"aps\": {\n  \"alert\": \"Hi\"\n }\n}\nnone\n{\"aps\":{\"content-available\":1}}\n")
    #expect(try Self.items(content).map { $0["line"] as? Int } == [2, 7, 8])
    #expect(try Self.items(content).map { $0["kind"] as? String } == ["alert", "invalid", "silent"])
  }

  @Test func `a truncated line of a run does not take the next ones with it`() async throws {
    let tool = try AttacheTool()
    let (output, page) = (tool.home["output"], tool.home["page.html"])
    let run = try await tool.run(["--report", tool.report], input: "{\"aps\":{\"alert\":\"cut\"\n}}\n" + Self.payload("Hi") + "\n")
    try run.text.write(toFile: output, atomically: true, encoding: .utf8)
    let preview = try await tool.run(["preview", "--report", tool.report, output, "-o", page])
    #expect(preview.exit == .status(0), "\(preview.errors)")
    let items = try Self.items(try Self.content(of: page))
    #expect(items.map { $0["line"] as? Int } == [1, 2, 3])
    #expect(items.map { $0["outcome"] as? String } == ["invalid", "invalid", "passthrough"])
  }

  @Test func `signals reach the filter, and no page is written`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stall(afterBytes: 30)])
      let tool = try AttacheTool()
      let (input, page) = (tool.home["input"], tool.home["page.html"])
      try Self.payload("Hi", origin.url("/a")).write(toFile: input, atomically: true, encoding: .utf8)
      let program = try tool.start(["preview", input, "-o", page, "--", "--deadline", "50s"] + AttacheTool.loopback)
      await origin.waitForStalls(count: 1, path: "/a")
      program.send(SIGINT)
      program.send(SIGINT)
      // The second one may come before the filter has taken the first.
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(75), "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: page))
    }
  }

  @Test func `media beyond 20 MB stay out of a page, and the page says so`() async throws {
    try await withOrigin { origin in
      let film = try Sample.medium("clip.mp4") + [UInt8](repeating: 0, count: 20_000_001)
      origin.serve("/film", film)
      let tool = try AttacheTool()
      let (_, content) = try await preview(tool, Self.payload("Hi", origin.url("/film")))
      let file = try #require((content["files"] as? [String: [String: Any]])?.values.first)
      #expect(file["url"] == nil)
      #expect((file["note"] as? String)?.contains("20 MB") == true)
    }
  }

  @Test(arguments: [
    (["preview", "none.ndjson", "-o", "page.html"], Int32(74), "none.ndjson: No such file or directory"),
    (["preview", "none.ndjson"], 64, "Missing expected argument '--output"),
    (["preview", "none.ndjson", "-o", "p.html", "--", "--report", "r"], 64, "--report cannot stand after --"),
    (["preview", "none.ndjson", "-o", "p.html", "--", "--unordered"], 64, "--unordered cannot stand after --"),
    (["preview", "none.ndjson", "-o", "p.html", "--", "--bogus"], 64, "after --: Unknown option '--bogus'"),
    (["preview", "none.ndjson", "-o", "p.html", "--input", "x"], 64, "--input belongs to --report"),
    (["preview", "none.ndjson", "-o", "p.html", "--categories", "none.json"], 64, "none.json: the file cannot be read"),
    (["preview", "payload.ndjson", "-o", "payload.ndjson/folder"], 73, "cannot be a folder"),
    (["preview", "--report", "payload.ndjson", "payload.ndjson", "-o", "p.html"], 65, "line 1: this is no line of a report"),
  ])
  func `what is wrong is said, and no page is written`(arguments: [String], status: Int32, message: String) async throws {
    let tool = try AttacheTool()
    try Self.payload("Hi").write(toFile: tool.home["payload.ndjson"], atomically: true, encoding: .utf8)
    let inHome = arguments.map { $0.contains(".ndjson") || $0.hasSuffix(".html") || $0.hasSuffix(".json") ? tool.home[$0] : $0 }
    let run = try await tool.run(inHome)
    #expect(run.exit == .status(status), "\(run.errors)")
    #expect(run.errors.contains(message), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.home["p.html"]) && !FileManager.default.fileExists(atPath: tool.home["page.html"]))
  }
}
