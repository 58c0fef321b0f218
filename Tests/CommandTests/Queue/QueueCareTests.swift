import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache queue`, `retry` and `purge`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct QueueCareTests {
  @Test func `a queue says how it stands`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n{}\n")
    let run = try await queue.run("queue")
    #expect(run.exit == .status(0))
    #expect(
      run.text.hasPrefix("\(queue.queue): 2 payloads\n  ready      2\n  waiting    0\n  leased     0\n  done       0\n  delivered  0\n"))
    let json = try await queue.run("queue", ["--json"])
    #expect(json.text.hasPrefix("{\"queue\":\"\(queue.queue)\",\"ready\":2,"))
    #expect(json.text.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
  }

  @Test func `a terminal is drawn over until Ctrl-C`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let terminal = try Terminal()
    let program = try queue.start("queue", ["--watch"]) { launch in
      launch.output = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
    }
    terminal.closeProgramSide()
    _ = await terminal.text(holding: "ready      1")
    _ = try await queue.run("enqueue", input: "{}\n")
    #expect(await terminal.text(holding: "ready      2").contains("\u{1B}[13A"))
    program.send(SIGINT)
    #expect(await program.exit() == .status(0))
  }

  @Test(arguments: [["TERM": "dumb"], ["TERM": "xterm", "NO_COLOR": "1"], [:]])
  func `a terminal whose user wants plain text gets a line each time`(environment: [String: String]) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let terminal = try Terminal()
    let program = try queue.start("queue", ["--watch"]) { launch in
      launch.output = .descriptor(terminal.program)
      launch.environment.merge(environment) { $1 }
    }
    terminal.closeProgramSide()
    let text = await terminal.text(holding: "1 payload: 1 ready, 0 waiting, 0 leased, 0 done, 0 delivered; 0/s\r\n")
    #expect(!text.contains("\u{1B}"))
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
  }

  @Test func `what is no terminal gets a line each time, or an object`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    for flags in [["--watch"], ["--watch", "--json"]] {
      let program = try queue.start("queue", flags)
      let lines = await program.lines(2)
      #expect(lines.allSatisfy { $0.contains(flags.count == 1 ? "1 ready" : "\"ready\":1") })
      program.send(SIGINT)
      #expect(await program.exit() == .status(0))
    }
  }

  @Test func `payloads that fell back are worked again, all or those of a reason`() async throws {
    let queue = try QueueTool()
    let lines = [Sample.payload("http://a.example/a.png"), Sample.payload("https://127.0.0.1/a.png"), "{}"].map { $0 + "\n" }.joined()
    try await queue.work(lines)
    let one = try await queue.run("retry", ["--reason", "policy.scheme"])
    #expect(one.exit == .status(0))
    #expect(one.errors == "attache: 1 payload selected\nattache: 1 payload requeued\n")
    #expect(try await queue.state().ready == 1)
    let rest = try await queue.run("retry")
    #expect(rest.errors == "attache: 1 payload selected\nattache: 1 payload requeued\n")
    _ = try await queue.run("work", ["--once"])
    #expect(try await queue.run("results").text == lines)
    #expect(try await queue.run("retry", ["--reason", "dns.timeout"]).errors == "attache: 0 payloads selected\n")
  }

  @Test func `payloads that passed for a reason are worked again with a flag that reads their media`() async throws {
    let queue = try QueueTool()
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},"videoUrl":"http://a.example/1"}"# + "\n"
    try await queue.work(line + "{}\n")
    #expect(
      try await queue.run("retry", ["--reason", "payload.unread-media"]).errors
        == "attache: 1 payload selected\nattache: 1 payload requeued\n")
    let again = try await queue.run("work", ["--once", "--media-key", "videoUrl"])
    #expect(again.errors.contains("policy.scheme http://a.example/1"), "\(again.errors)")
    #expect(try await queue.run("retry").errors == "attache: 1 payload selected\nattache: 1 payload requeued\n")
  }

  @Test(arguments: [("policy.schema", "did you mean policy.scheme?"), ("nonsense", "`attache reasons` lists them")])
  func `a reason that does not exist ends with 64 and the nearest that does`(reason: String, advice: String) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let run = try await queue.run("retry", ["--reason", reason])
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(advice))
  }

  @Test func `what is old enough is removed with what was held for it`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let queue = try QueueTool()
      try await queue.work(Sample.payload(origin.url("/a.png")) + "\n{}\n", QueueTool.loopback)
      _ = try await queue.run("enqueue", input: "{}\n")
      #expect(try await queue.run("purge", ["--older-than", "1h"]).errors == "attache: 0 payloads selected\n")
      #expect(try queue.holds().count == 1)
      #expect(try await queue.run("purge", ["--older-than", "0s"]).errors == "attache: 0 payloads selected\n")
      let run = try await queue.run("purge", ["--older-than", "0s", "--include-undelivered"])
      #expect(run.exit == .status(0))
      #expect(run.errors == "attache: 2 payloads selected\nattache: 2 payloads removed\n")
      #expect(try queue.holds() == [])
      let state = try await queue.state()
      #expect(state.total == 1 && state.ready == 1)
    }
  }
}
