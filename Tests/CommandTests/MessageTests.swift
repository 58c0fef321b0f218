import AttacheTesting
import Foundation
import Testing

/// The messages on standard error, and the progress line.
@Suite(.timeLimit(.minutes(1)))
struct MessageTests {
  private static let refused = Sample.payload("http://cdn.example/a") + "\n"

  @Test func `text is one line for each reason and one summary`() async throws {
    let run = try await AttacheTool().run(input: Self.refused + Self.refused + "{")
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.hasPrefix("attache: ") })
    #expect(lines.contains { $0.contains("--allow-http") })
    #expect(lines.contains { $0.hasPrefix("attache: line 3, column 2: payload.json: the JSON goes over several lines") })
    #expect(lines[2].contains("3 lines: 0 attached, 2 fallback (policy.scheme 2), 0 passthrough, 1 invalid; "))
  }

  @Test func `json is one object a line`() async throws {
    struct Message: Decodable {
      var time, level, message: String
      var reason, url: String?
      var line, count: Int?
    }
    let run = try await AttacheTool().run(["--log-format", "json", "--report", "/dev/full"], input: Self.refused)
    let messages = try run.errors.split(separator: "\n").map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)) }
    // The report fails on a thread of its own, before or after the line is explained.
    #expect(messages.prefix(2).map(\.level).sorted() == ["notice", "warning"])
    #expect(messages.dropFirst(2).map(\.level) == ["info", "error"])
    #expect(messages[2].message.hasPrefix("1 line: "))
    let explanation = try #require(messages.first { $0.level == "notice" })
    #expect(explanation.reason == "policy.scheme")
    #expect(explanation.url == "http://cdn.example/a")
    #expect(explanation.line == 1)
    #expect(explanation.count == 1)
    #expect(messages.allSatisfy { $0.time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil })
  }

  @Test func `a status is named, and a wait for a connection is in the report`() async throws {
    try await withOrigin { origin in
      origin.serve("/gone.png", try Sample.medium("picture.png"), faults: [.status(404)])
      origin.serve("/stalls.png", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let tool = try AttacheTool()
      let gone = try await tool.run(AttacheTool.loopback, input: Sample.payload(origin.url("/gone.png")) + "\n")
      #expect(gone.errors.contains("/gone.png: the origin answered 404; check the URL\n"), "\(gone.errors)")

      // The first has the only connection until both expire.
      let lines = [origin.url("/stalls.png"), origin.url("/stalls.png?2")].map { Sample.payload($0) + "\n" }.joined()
      let flags = AttacheTool.loopback + ["--per-host", "1", "--deadline", "500ms", "--report", tool.home["report"]]
      #expect(try await tool.run(flags, input: lines).text == lines)
      let report = try String(contentsOfFile: tool.home["report"], encoding: .utf8).split(separator: "\n")
      #expect(report.map { $0.contains("\"wait_ms\":") } == [false, true], "\(report)")
    }
  }

  @Test(arguments: ["filter", "batch"]) func `each status has an example, and its number in the summary`(command: String) async throws {
    try await withOrigin { origin in
      for status in [404, 403] { origin.serve("/\(status).png", try Sample.medium("picture.png"), faults: [.status(status)]) }
      let tool = try AttacheTool()
      let input = [404, 404, 403].map { Sample.payload(origin.url("/\($0).png")) + "\n" }.joined()
      try input.write(toFile: tool.home["in"], atomically: true, encoding: .utf8)
      let files = command == "batch" ? [tool.home["in"], "-o", tool.home["out"]] : []
      let run = try await tool.run([command] + files + AttacheTool.loopback, input: input)
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("/404.png: the origin answered 404;") && run.errors.contains("/403.png: the origin answered 403;"))
      #expect(run.errors.contains("3 fallback (http.status 3 (404: 2, 403: 1))"), "\(run.errors)")
    }
  }

  @Test func `json holds for an error at the start too`() async throws {
    let run = try await AttacheTool().run(["--log-format", "json", "--store", "/dev/null/store"])
    #expect(run.exit == .status(73))
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(run.errors.utf8)) }
  }

  @Test func `a terminal shows how far the run is`() async throws {
    let terminal = try Terminal()
    let program = try AttacheTool().start { launch in
      launch.errors = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
    }
    program.input.write("{}\n")
    terminal.closeProgramSide()
    #expect(await terminal.text(holding: "1 lines, 0 attached, 0 fallback").contains("\r\u{1B}[K1 lines, 0 attached, 0 fallback"))
    program.input.close()
    #expect(await program.exit() == .status(0))
    #expect(await terminal.everything().contains("\r\u{1B}[Kattache: 1 line: "))
  }

  @Test func `the progress line is cut at the terminal's width and makes way for a message`() async throws {
    let terminal = try Terminal(columns: 20)
    let program = try AttacheTool().start { launch in
      launch.errors = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
    }
    terminal.closeProgramSide()
    program.input.write("{}\n")
    #expect(await terminal.text(holding: "1 lines, 0 attached,").hasSuffix("\r\u{1B}[K1 lines, 0 attached,"))
    program.input.write(Self.refused)
    #expect(await terminal.text(holding: "--allow-http").contains("1 lines, 0 attached,\r\u{1B}[Kattache: line 2: policy.scheme "))
    program.input.close()
    #expect(await program.exit() == .status(0))
    let text = await terminal.everything()
    #expect(!text.contains("attached, 0"))
    // The progress line does not overwrite the last message.
    #expect(text.hasSuffix(" s\r\n"))
  }

  @Test(arguments: [["TERM": "dumb"], [:], ["TERM": "xterm", "NO_COLOR": "1"]])
  func `a terminal whose user wants plain text shows no progress`(environment: [String: String]) async throws {
    let terminal = try Terminal()
    try await expectNoProgress { launch in
      launch.errors = .descriptor(terminal.program)
      launch.environment.merge(environment) { $1 }
    }
    terminal.closeProgramSide()
    let text = await terminal.everything()
    #expect(text.contains("deadline 1"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test func `what is no terminal shows no progress, unless it is asked for`() async throws {
    let quiet = try await expectNoProgress { $0.environment["TERM"] = "xterm" }
    #expect(!quiet.errors.contains("\u{1B}"))
    let program = try AttacheTool().start(["--progress", "always"])
    program.input.write("{}\n")
    #expect(await program.errors(holding: "1 lines, ").contains("1 lines, 0 attached"))
  }

  @Test func `no progress is shown on a terminal when it is not asked for`() async throws {
    let terminal = try Terminal()
    try await expectNoProgress(["--progress", "never"]) { launch in
      launch.errors = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
    }
    terminal.closeProgramSide()
    #expect(await !terminal.everything().contains("\u{1B}"))
  }

  /// Runs for longer than the half second after which progress would be shown.
  @discardableResult
  private func expectNoProgress(_ flags: [String] = [], _ change: (inout Launch) -> Void) async throws -> Run {
    try await withOrigin { origin in
      origin.serve("/a", [], faults: [.stallBeforeHeaders])
      let run = try await AttacheTool().run(
        AttacheTool.loopback + ["--deadline", "700ms"] + flags, input: Sample.payload(origin.url("/a")), change: change)
      #expect(run.exit == .status(0))
      return run
    }
  }
}
