import AttacheTesting
import Glibc
import Foundation
import Testing

/// SIGTERM, SIGINT and SIGHUP, once, twice and three times.
@Suite(.timeLimit(.minutes(1)))
struct SignalTests {
  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `a signal lets what is in flight finish and ends with 75 while the input is open`(signal: Int32) async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let program = try AttacheTool().start(AttacheTool.loopback)
      program.input.write(Sample.payload(origin.url("/a.png")) + "\n" + Sample.plain + "\n")
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(signal)
      // attache has stopped reading when the other end of the pipe is closed or nothing more is
      // read. The line in flight still gets its media.
      origin.release("/a.png")
      let run = await program.finished()
      #expect(run.exit == .status(75))
      let lines = run.text.split(separator: "\n")
      #expect(lines.count == 2)
      #expect(Enriched.attachments(lines[0]).count == 1)
      #expect(lines[1] == Sample.plain)
    }
  }

  @Test func `a signal lets what is in flight expire at its deadline`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let line = Sample.payload(origin.url("/a.png")) + "\n"
      let program = try AttacheTool().start(AttacheTool.loopback + ["--deadline", "500ms"])
      program.input.write(line)
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(75))
      #expect(run.text == line)
      #expect(run.errors.contains("deadline 1"))
    }
  }

  @Test func `a signal after the end of the input changes nothing about status 0`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let line = Sample.payload(origin.url("/a.png")) + "\n"
      let tool = try AttacheTool()
      // A file, whose end is read together with its bytes. With a pipe, the signal could come
      // before the end.
      try line.write(toFile: tool.home["input"], atomically: true, encoding: .utf8)
      let program = try tool.start(AttacheTool.loopback + ["--deadline", "800ms"]) { $0.input = .file(tool.home["input"]) }
      await origin.waitForStalls(count: 1, path: "/a.png")
      await program.readerHasEnded()
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.text == line)
    }
  }

  @Test(arguments: [[SIGTERM, SIGTERM], [SIGINT, SIGINT], [SIGTERM, SIGINT], [SIGHUP, SIGTERM]])
  func `a second signal writes the originals at once and ends with 75`(signals: [Int32]) async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let input = (0..<50).map { Sample.payload(origin.url("/a.png?\($0)")) + "\n" }.joined()
      let program = try AttacheTool().start(AttacheTool.loopback + ["--per-host", "50"])
      program.input.write(input)
      await origin.waitForStalls(count: 50, path: "/a.png")
      program.send(signals[0])
      // Two pending signals of one kind count as one.
      await program.signalsAreTaken()
      program.send(signals[1])
      let run = await program.finished()
      #expect(run.exit == .status(75))
      #expect(run.text == input)
      #expect(run.errors.contains("cancelled 50"))
    }
  }

  @Test func `a second signal ends with 75 after the end of the input as well`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let line = Sample.payload(origin.url("/a.png")) + "\n"
      let program = try AttacheTool().start(AttacheTool.loopback)
      program.input.write(line)
      program.input.close()
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      await program.signalsAreTaken()
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(75))
      #expect(run.text == line)
    }
  }

  @Test func `a signal before the first line ends with 75 and no output`() async throws {
    let program = try AttacheTool().start()
    program.input.write("\n")
    _ = await program.lines(1)
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.text == "\n")
  }

  @Test func `a third signal ends attache with 75 although nobody reads its output`() async throws {
    let pipe = try TestPipe()
    let program = try AttacheTool().start { $0.output = .descriptor(pipe.writeEnd) }
    // More than fits into a pipe and the window.
    program.input.write(PassThroughTests.input(count: 40_000, seed: 3))
    for _ in 1...3 {
      await program.outputIsBlocked()
      program.send(SIGTERM)
      await program.signalsAreTaken()
    }
    #expect(await program.exit() == .status(75))
  }

  @Test func `a signal that is ignored at the start stays ignored, as nohup expects`() async throws {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
      let tool = try AttacheTool()
      // The shell starts its command with the signal ignored, as for `command &` in a script, and
      // as nohup does.
      let program = try Program(
        Launch(
          path: "/bin/sh", arguments: ["-c", "trap '' $0; exec \"$1\"", "\(signal)", AttacheTool.folder + "/attache"],
          environment: tool.environment, folder: tool.home))
      program.input.write(Sample.plain + "\n")
      _ = await program.lines(1)
      program.send(signal)
      program.input.write(Sample.plain + "\n")
      #expect(await program.lines(2).count == 2)
      program.input.close()
      #expect(await program.exit() == .status(0))
    }
  }

  @Test func `a signal stops a reader that waits for a free job, and every line that was read comes out`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let line = Sample.payload(origin.url("/a.png"))
      let program = try AttacheTool().start(AttacheTool.loopback + ["--jobs", "1", "--cache", "off"])
      program.input.write(line + "\n" + line + "\n" + line + "\n")
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      // The lines that wait for a job go out unchanged, and the line that has the job keeps it.
      await program.signalsAreTaken()
      await program.readerHasEnded()
      origin.release("/a.png")
      let run = await program.finished()
      #expect(run.exit == .status(75))
      let lines = run.text.split(separator: "\n")
      #expect(Enriched.attachments(lines[0]).count == 1)
      #expect(lines.dropFirst() == [line[...], line[...]])
      #expect(run.errors.contains("cancelled 2"))
    }
  }
}
