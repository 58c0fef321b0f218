import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchBackpressureTests {
  @Test(.tags(.realTime)) func `a disk that blocks pauses the transfer, and the original leaves before the deadline`() async throws {
    try await withFetchStage { stage in
      let size = 49_000_000
      stage.origin.serve("/a", Sample.padded(Sample.mp4, to: size))
      let held = HeldThread()
      let workers = stage.fetcher.fetch("no URL", deadline: .now) { _, _ in }.engine.workers
      for worker in workers { worker.perform { held.wait() } }
      let line = FilterRun.line(stage.origin.url("/a"))
      let run = try await stage.filter([line], deadline: .seconds(2))
      for _ in workers { held.signal() }
      #expect(run.output == [line])
      #expect(run.records.map(\.reason) == ["deadline"])
      #expect(run.late.isEmpty, "\(run.late.map(\.latenessMs))")
      #expect(stage.origin.requestCount(path: "/a") == 1)
      #expect(try #require(run.records.first?.media.first).bytes < size, "what nobody writes is not read")
      #expect(await stage.isAtRest())
    }
  }
}
