import AttacheTesting
import Glibc
import Testing

/// How decided lines are written, and what attache does when nobody reads them.
@Suite(.timeLimit(.minutes(1)))
struct OutputTests {
  @Test func `an enriched line comes out before the next one is written`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let program = try AttacheTool().start(AttacheTool.loopback)
      for count in 1...3 {
        program.input.write(Sample.payload(origin.url("/a.png")) + "\n")
        #expect(Enriched.attachments(try #require(await program.lines(count).last)).count == 1)
      }
      program.input.close()
      #expect(await program.exit() == .status(0))
    }
  }

  @Test func `a plain line comes out while the input is open`() async throws {
    let program = try AttacheTool().start()
    program.input.write(Sample.plain + "\n" + #"{"half":"#)
    #expect(await program.lines(1) == [Sample.plain])
  }

  @Test(arguments: [false, true])
  func `a closed pipe downstream ends attache by SIGPIPE`(isIgnoredByParent: Bool) async throws {
    let pipe = try TestPipe()
    let program = try AttacheTool().start { launch in
      launch.output = .descriptor(pipe.writeEnd)
      launch.ignored = isIgnoredByParent ? [SIGPIPE] : []
    }
    pipe.closeWriteEnd()
    program.input.write(Sample.plain + "\n")
    // Like head -1: reads a line and closes the pipe.
    #expect(await pipe.readLine() == Sample.plain)
    pipe.closeReadEnd()
    program.input.write(PassThroughTests.input(count: 2_000, seed: 4))
    #expect(await program.exit() == .signal(SIGPIPE))
  }

  @Test func `a closed pipe downstream ends attache while media are under way`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let pipe = try TestPipe()
      pipe.closeReadEnd()
      let program = try AttacheTool().start(AttacheTool.loopback) { $0.output = .descriptor(pipe.writeEnd) }
      program.input.write(Sample.payload(origin.url("/a.png")) + "\n")
      await origin.waitForStalls(count: 1, path: "/a.png")
      origin.release("/a.png")
      #expect(await program.exit() == .signal(SIGPIPE))
    }
  }

  @Test func `an output that is full ends with 74`() async throws {
    let run = try await AttacheTool().run(input: Sample.plain) { $0.output = .file("/dev/full") }
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("standard output: "))
  }

  @Test func `a full output ends the run although its input stays open`() async throws {
    let program = try AttacheTool().start { $0.output = .file("/dev/full") }
    program.input.write(Sample.plain + "\n")
    #expect(await program.exit() == .status(74))
  }

  @Test func `an output that was closed before the start ends with 74`() async throws {
    let run = try await AttacheTool().run(input: Sample.plain) { $0.output = .closed }
    #expect(run.exit == .status(74))
  }

  @Test(arguments: ["never", "always"])
  func `a standard error whose reader has gone disturbs nothing`(progress: String) async throws {
    let pipe = try TestPipe()
    pipe.closeReadEnd()
    let program = try AttacheTool().start(["--progress", progress]) { $0.errors = .descriptor(pipe.writeEnd) }
    let line = Sample.payload("ftp://x") + "\n"
    program.input.write(line)
    #expect(await program.lines(1).count == 1)
    program.input.write(line)
    program.input.close()
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.text == line + line)
  }

  @Test func `a report whose reader has gone costs no line and ends with 74`() async throws {
    let pipe = try TestPipe()
    pipe.closeReadEnd()
    let line = Sample.payload("ftp://x") + "\n"
    let run = try await AttacheTool().run(["--report", "/dev/stderr"], input: line + line) { $0.errors = .descriptor(pipe.writeEnd) }
    #expect(run.exit == .status(74))
    #expect(run.text == line + line)
  }

  @Test(arguments: [["inspect"], ["lint"], ["dialects"], ["reasons"]])
  func `a closed pipe downstream ends the other commands by SIGPIPE too`(arguments: [String]) async throws {
    let pipe = try TestPipe()
    pipe.closeReadEnd()
    let run = try await AttacheTool().run(arguments, input: "{") { $0.output = .descriptor(pipe.writeEnd) }
    #expect(run.exit == .signal(SIGPIPE))
    #expect(run.errors == "")
  }

  @Test func `a closed standard error disturbs nothing`() async throws {
    let run = try await AttacheTool().run(input: Sample.payload("ftp://x") + "\n{") { $0.errors = .closed }
    #expect(run.exit == .status(0))
    #expect(run.text == Sample.payload("ftp://x") + "\n{")
  }
}
