import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchFaultTests {
  /// The endless body of the origin is a picture, repeated.
  private static func boundImages(_ configuration: inout FetchConfiguration) {
    configuration.limits.image = 100_000
  }

  @Test(.tags(.realTime)) func `500 faulty origins and 500 good ones do not get into each other's way`() async throws {
    let faulty = FaultCase.fatal + FaultCase.stalled
    try await withFetchStage { configuration in
      Self.boundImages(&configuration)
      configuration.transfersPerOrigin = 1_000
      // With the pauses, a third attempt may not fit into two seconds on a busy machine.
      configuration.retries = 0
    } _: { stage in
      let png = Sample.png
      for number in 0..<500 {
        stage.origin.serve("/good/\(number)", png)
        stage.origin.serve("/bad/\(number)", png, faults: faulty[number % faulty.count].faults)
      }
      let lines = (0..<500).flatMap { number in
        [FilterRun.line(stage.origin.url("/bad/\(number)")), FilterRun.line(stage.origin.url("/good/\(number)"))]
      }
      let run = try await stage.filter(lines, deadline: .seconds(2), jobs: 100)
      #expect(run.records.count == 1_000)
      for number in 0..<500 {
        let (bad, good) = (run.records[2 * number], run.records[2 * number + 1])
        let item = faulty[number % faulty.count]
        #expect(bad.reason == item.reason.rawValue, "\(item.name)")
        #expect(run.output[2 * number] == lines[2 * number])
        #expect(good.outcome == "attached", "\(good.reason ?? "")")
        #expect(try run.attachments(ofLine: 2 * number + 2)?.map(\.source) == [stage.origin.url("/good/\(number)")])
      }
      #expect(run.late.isEmpty, "\(run.late.map(\.latenessMs))")
      #expect(await stage.isAtRest())
      #expect(stage.files.count == 1)
    }
  }

  @Test func `a body that is longer than its length is taken as long as it says`() async throws {
    try await withFetchStage { stage in
      let png = Sample.png
      stage.origin.serve("/a", Sample.padded(png, to: png.count + 4), faults: [.contentLength(tooShortBy: 4)])
      stage.origin.serve("/b", png)
      #expect(await stage.fetch("/a").file?.sha256 == Sample.sha256(png))
      #expect(await stage.fetch("/b").file?.sha256 == Sample.sha256(png))
    }
  }
}
