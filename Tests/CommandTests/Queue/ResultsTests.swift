import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache results`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct ResultsTests {
  @Test func `results come in the order enqueued, whatever the priority, and those without one are passed over`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", ["--priority", "1"], input: "{\"n\":1}\n")
    _ = try await queue.run("enqueue", ["--not-before", "+1h"], input: "{\"n\":2}\n")
    _ = try await queue.run("enqueue", ["--priority", "10"], input: "{\"n\":3}\n")
    let work = try queue.start("work")
    _ = try await queue.state { $0.done == 2 }
    work.send(SIGTERM)
    #expect(await work.exit() == .status(75))
    let run = try await queue.run("results")
    #expect(run.exit == .status(0))
    #expect(run.text == "{\"n\":1}\n{\"n\":3}\n")
    #expect(run.errors == "")
  }

  @Test func `unread gives each result once, and a line feed to each`() async throws {
    let queue = try QueueTool()
    try await queue.work("{\"n\":1}")
    #expect(try await queue.run("results", ["--unread"]).text == "{\"n\":1}\n")
    #expect(try await queue.run("results", ["--unread"]).text == "")
    try await queue.work("{\"n\":2}\n")
    #expect(try await queue.state().unread == 1)
    #expect(try await queue.run("results", ["--unread"]).text == "{\"n\":2}\n")
    #expect(try await queue.run("results").text == "{\"n\":1}\n{\"n\":2}\n")
  }

  @Test func `what is unread has one reader at a time, and a second one is told so`() async throws {
    let queue = try QueueTool()
    try await queue.work("{\"n\":1}\n")
    let first = try queue.start("results", ["--unread", "--follow"])
    #expect(await first.lines(1) == ["{\"n\":1}"])
    for arguments in [["results", "--queue", queue.queue, "--unread"], ["deliver", "--queue", queue.queue, "--once", "--", "cat"]] {
      let second = try await queue.tool.run(arguments, input: "")
      #expect(second.exit == .status(69))
      #expect(second.text == "")
      #expect(second.errors.contains("`results --unread`") && second.errors.contains("end it"))
    }
    #expect(try await queue.run("results").text == "{\"n\":1}\n")
    first.send(SIGTERM)
    _ = await first.finished()
    #expect(try await queue.run("results", ["--unread"]).exit == .status(0))
  }

  @Test func `the report has a record for each, and reads nothing`() async throws {
    let queue = try QueueTool()
    try await queue.work("{}\nno json\n", ["--report-key", "a"])
    let records = try await queue.run("results", ["--report"]).text.split(separator: "\n")
    let outcomes = try records.map { try JSONDecoder().decode([String: Outcome].self, from: Data($0.utf8)) }
    #expect(records.count == 2)
    #expect(outcomes.count == 2)
    #expect(
      records[0].contains("\"outcome\":\"passthrough\",\"reason\":\"payload.no-alert\"") && records[1].contains("\"outcome\":\"invalid\""))
    #expect(records[1].contains("\"column\":1,\"why\":\"the line is no JSON at all; write one JSON object a line, and nothing else\""))
    #expect(records.allSatisfy { $0.hasSuffix("\"key\":null}") })
    #expect(try await queue.state().unread == 2)
  }

  /// Any JSON value.
  private struct Outcome: Decodable {
    init(from decoder: any Decoder) throws {}
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a follower gives each result when it is its turn, and ends with 0 at a signal`(signal: Int32) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{\"n\":1}\n{\"n\":2}")
    let follower = try queue.start("results", ["--follow", "--unread"])
    _ = try await queue.run("work", ["--once"])
    #expect(await follower.lines(2) == ["{\"n\":1}", "{\"n\":2}"])
    _ = try await queue.run("enqueue", input: "{\"n\":3}\n")
    _ = try await queue.run("work", ["--once"])
    #expect(await follower.lines(3).last == "{\"n\":3}")
    follower.send(signal)
    let run = await follower.finished()
    #expect(run.exit == .status(0))
    #expect(run.errors == "")
    #expect(try await queue.state().unread == 0)
  }

  @Test(arguments: ["closed", "/dev/full"])
  func `an output that cannot be written ends with 74, and nothing counts as read`(output: String) async throws {
    let queue = try QueueTool()
    try await queue.work("{}\n")
    let run = try await queue.run("results") { $0.output = output == "closed" ? .closed : .file(output) }
    #expect(run.exit == .status(74))
    #expect(run.errors.hasPrefix("attache: standard output: "))
    #expect(try await queue.state().unread == 1)
  }

  @Test(arguments: [true, false])
  func `a reader that has gone ends it quietly, as any filter`(isIgnored: Bool) async throws {
    let queue = try QueueTool()
    try await queue.work("{}\n")
    let pipe = try TestPipe()
    pipe.closeReadEnd()
    let run = try await queue.run("results") { launch in
      launch.output = .descriptor(pipe.writeEnd)
      if isIgnored { launch.ignored = [SIGPIPE] }
    }
    #expect(run.exit == .signal(SIGPIPE))
    #expect(run.errors == "")
    #expect(try await queue.state().unread == 1)
  }

  @Test func `what was read is held no longer`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let queue = try QueueTool()
      try await queue.work(Sample.payload(origin.url("/a.png")) + "\n", QueueTool.loopback)
      #expect(try queue.holds().count == 1)
      #expect(try await queue.run("results", ["--report"]).exit == .status(0))
      #expect(try queue.holds().count == 1)
      #expect(try await queue.run("results").exit == .status(0))
      #expect(try queue.holds().count == 1)
      let run = try await queue.run("results", ["--unread"])
      #expect(Enriched.attachments(run.text.split(separator: "\n")[0]).count == 1)
      #expect(try queue.holds() == [])
      #expect(try queue.tool.storedFiles().filter { !$0.hasPrefix(".held") }.count == 1)
    }
  }
}
