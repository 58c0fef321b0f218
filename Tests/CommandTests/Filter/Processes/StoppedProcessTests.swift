import AttacheTesting
import Glibc
import Testing

/// A process that is stopped for a while, as by a debugger or a freezer.
@Suite(.timeLimit(.minutes(1)))
struct StoppedProcessTests {
  @Test func `lines whose deadline passed while the process was stopped leave as they came when it goes on`() async throws {
    try await withOrigin { origin in
      for path in ["/a.png", "/b.png"] { origin.serve(path, [], faults: [.stallBeforeHeaders]) }
      let lines = (1...3).map { Sample.payload(origin.url("/a.png") + "?\($0)") + "\n" }
      let tool = try AttacheTool()
      let program = try tool.start(AttacheTool.loopback + ["--deadline", "400ms", "--report", tool.report])
      program.input.write(lines.joined())
      program.input.close()
      await origin.waitForStalls(count: 3, path: "/a.png")
      program.send(SIGSTOP)
      // Another filter measures the time: its only line goes out at a later deadline.
      let other = try await AttacheTool().run(AttacheTool.loopback + ["--deadline", "900ms"], input: Sample.payload(origin.url("/b.png")))
      #expect(other.errors.contains("deadline 1"))
      program.send(SIGCONT)
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.text == lines.joined())
      let records = try ReportLine.read(tool.report)
      #expect(records.map(\.reason) == ["deadline", "deadline", "deadline"])
      #expect(records.allSatisfy { $0.latenessMs.map { $0 > 0 } == true })
    }
  }
}
