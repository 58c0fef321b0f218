import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// Media in the least helpful form: without an extension in the URL and without a type in the
/// response.
@Suite(.timeLimit(.minutes(1))) struct FetchFixtureTests {
  @Test func `every accepted file is attached with Apple's identifier, its size and its hash`() async throws {
    let fixtures = MediaFixture.accepted
    try await serve(fixtures) { stage, run in
      for (index, fixture) in fixtures.enumerated() {
        let bytes = try fixture.bytes
        let gained = try #require(try run.attachments(ofLine: index + 1)?.first, "\(fixture.name)")
        #expect(gained.type == fixture.answer.type, "\(fixture.name)")
        #expect(gained.size == bytes.count, "\(fixture.name)")
        #expect(gained.sha256 == Sample.sha256(bytes), "\(fixture.name)")
        #expect(gained.source == stage.origin.url("/\(index)"), "\(fixture.name)")
        let file = try #require(URL(string: gained.url)?.path(percentEncoded: false))
        #expect(FileManager.default.contents(atPath: file).map { [UInt8]($0) } == bytes, "\(fixture.name)")
      }
      #expect(run.result.summary.lines(.attached) == fixtures.count)
    }
  }

  @Test func `every wrong file leaves the line as it came, with its reason`() async throws {
    let fixtures = MediaFixture.refused
    try await serve(fixtures) { stage, run in
      #expect(run.output == run.input)
      for (fixture, record) in zip(fixtures, run.records) {
        #expect(record.outcome == "fallback", "\(fixture.name)")
        #expect(record.reason == fixture.answer.reason, "\(fixture.name)")
        #expect(record.media.map(\.reason) == [fixture.answer.reason], "\(fixture.name)")
      }
      #expect(stage.files.isEmpty)
    }
  }

  private func serve(_ fixtures: [MediaFixture], _ check: (FetchStage, FilterRun) throws -> Void) async throws {
    #expect(!fixtures.isEmpty)
    try await withFetchStage { stage in
      for (index, fixture) in fixtures.enumerated() { stage.origin.serve("/\(index)", try fixture.bytes) }
      let run = try await stage.filter(fixtures.indices.map { FilterRun.line(stage.origin.url("/\($0)")) })
      #expect(run.records.count == fixtures.count)
      try check(stage, run)
      #expect(await stage.isAtRest())
    }
  }
}
