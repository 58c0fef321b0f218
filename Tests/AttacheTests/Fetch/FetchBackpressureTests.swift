import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchBackpressureTests {
  @Test(.tags(.realTime)) func `a loop that blocks costs its own lines, on time, and further ones go to the other`() async throws {
    try await withFetchStage {
      $0.fetchers = 2
    } _: { stage in
      for number in 0..<30 { stage.origin.serve("/\(number)", Sample.png, faults: number < 20 ? [.stallBeforeHeaders] : []) }
      let lines = (0..<30).map { FilterRun.line(stage.origin.url("/\($0)")) }
      let held = HeldThread()
      // Blocks the writer, as a disk would.
      stage.fetcher.engines[0].loop.post { held.wait() }
      let first = try await stage.filter(Array(lines[..<20]), deadline: .milliseconds(500))
      #expect(first.records.allSatisfy { $0.reason == "deadline" })
      #expect(first.late.isEmpty, "\(first.late.map(\.latenessMs))")
      // Work that the loop has not taken back still counts as its load.
      let second = try await stage.filter(Array(lines[20...]), deadline: .seconds(10))
      #expect(second.records.allSatisfy { $0.reason == nil })
      held.signal()
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a detector that is silent pauses the transfer, and the original leaves on time`() async throws {
    try await withFetchStage { stage in
      // The loops' rules do not cover this, so ask the process.
      let strange = Misbehaviour.wait.mark + [UInt8](repeating: 7, count: 4_000_000)
      stage.origin.serve("/a", strange)
      let running = stage.begin("/a")
      await stage.origin.waitForRequests(count: 1)
      // The loops still run, and take only what was there when the question was asked.
      stage.origin.serve("/b", Sample.png)
      #expect(await stage.fetch("/b").file != nil)
      #expect(running.ticket.record.bytes < strange.count, "attache does not read bytes that it cannot write")
      stage.origin.serve("/c", strange)
      let line = FilterRun.line(stage.origin.url("/c"))
      let run = try await stage.filter([line], deadline: .milliseconds(500))
      #expect(run.output == [line])
      #expect(run.records.map(\.reason) == ["deadline"])
      #expect(run.late.isEmpty, "\(run.late.map(\.latenessMs))")
      #expect(await running.end.reason == .typeDetector)
      #expect(await stage.isAtRest())
    }
  }
}
