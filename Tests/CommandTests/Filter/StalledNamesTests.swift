import Attache
import AttacheTesting
import Testing

/// Names whose look-up never completes.
@Suite(.timeLimit(.minutes(1)))
struct StalledNamesTests {
  @Test func `a thousand stalled names delay no other line and cost no thread`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let loopback = try #require(IPAddress("127.0.0.1"))
      let dns = try await StubDNS(["cdn.example": .addresses([loopback])], others: .silence)
      let good = Sample.payload(origin.url("/a", host: "cdn.example"))
      let tool = try AttacheTool()
      let program = try tool.start(
        AttacheTool.loopback + [
          "--dns-server", dns.address, "--jobs", "2000", "--unordered", "--deadline", "4s", "--grace", "1s", "--report", tool.report,
        ])
      program.input.write(good + "\n")
      #expect(Enriched.attachments(try #require(await program.lines(1).first)).count == 1)
      let threads = try #require(program.threadCount)

      let stalled = (0..<1_000).map { Sample.payload("https://name\($0).example/a") }
      program.input.write(stalled.map { $0 + "\n" }.joined() + good.replacing("/a", with: "/a?2") + "\n")
      let second = await program.lines(2)
      #expect(Enriched.attachments(second[1]).count == 1, "the last input line is the first output line")
      #expect(try #require(program.threadCount) <= threads)

      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(Set(run.text.split(separator: "\n").dropFirst(2).map(String.init)) == Set(stalled))
      let records = try ReportLine.read(tool.report).filter { $0.outcome == "fallback" }
      #expect(records.count == 1_000)
      #expect(records.allSatisfy { $0.reason == "deadline" && $0.latenessMs.map { $0 < 0 } == true })
      await dns.stop()
    }
  }
}
