import AttacheTesting
import Foundation
import Testing

/// The flags for fetches: limits, retries, connections, memory.
@Suite(.timeLimit(.minutes(1)))
struct FetchFlagTests {

  @Test(arguments: [("http", 1, ["miss", "hit", "hit"]), ("session", 1, ["miss", "hit", "hit"]), ("off", 3, ["miss", "miss", "miss"])])
  func `the cache decides how often the same media is asked for`(mode: String, requests: Int, caches: [String]) async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let program = try tool.start(AttacheTool.loopback + ["--cache", mode, "--report", tool.report])
      for count in 1...3 {
        program.input.write(Sample.payload(origin.url("/a")) + "\n")
        _ = await program.lines(count)
      }
      program.input.close()
      let run = await program.finished()
      #expect(run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
      #expect(try ReportLine.read(tool.report).flatMap { $0.media.map(\.cache) } == caches)
      #expect(origin.requestCount() == requests)
    }
  }

  @Test func `a fetch that is under way is joined`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      origin.serve("/b", try Sample.medium("animation.gif"))
      let tool = try AttacheTool()
      let program = try tool.start(AttacheTool.loopback + ["--report", tool.report])
      program.input.write(["/a", "/a", "/b"].map { Sample.payload(origin.url($0)) + "\n" }.joined())
      program.input.close()
      // Fetches begin in the order of the lines.
      await origin.waitForRequests(count: 1, path: "/b")
      await origin.waitForStalls(count: 1, path: "/a")
      origin.release("/a")
      #expect(await program.exit() == .status(0))
      #expect(
        try ReportLine.read(tool.report).sorted { $0.line < $1.line }.flatMap { $0.media.map(\.cache) } == ["miss", "joined", "miss"])
      #expect(origin.requestCount() == 2)
    }
  }

  @Test func `MAGIC in the environment and .magic in the home folder do not change what a file is`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let database = tool.home[".magic"]
      try "0\tbyte\tx\tall\n!:mime\ttext/html\n".write(toFile: database, atomically: true, encoding: .utf8)
      for value in [database, "/nowhere"] {
        let run = try await tool.run(AttacheTool.loopback, input: Sample.payload(origin.url("/a"))) { $0.environment["MAGIC"] = value }
        #expect(run.exit == .status(0))
        #expect(Enriched.attachments(run.text).map(\.type) == ["public.png"])
      }
    }
  }
}
