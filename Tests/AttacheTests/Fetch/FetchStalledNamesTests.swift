import AttacheTesting
import Foundation
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchStalledNamesTests {
  @Test(.tags(.realTime)) func `1,000 names that are never answered delay no other line and take no threads`() async {
    await #expect(processExitsWith: .success) {
      let dns = try await StubDNS(["good.example.test": .addresses([.v4(0x7F00_0001)])], others: .silence)
      try await withFetchStage(dns: dns) { stage in
        for path in ["/a", "/b"] { stage.origin.serve(path, Sample.png) }
        #expect(await stage.fetch(stage.origin.url("/a", host: "good.example.test")).file != nil)
        let before = try threads()
        let stalled = (0..<1_000).map { stage.begin("http://n\($0).example.test/", within: .seconds(30)) }
        await dns.waitForQueries(of: "n999.example.test", count: 2)
        #expect(await stage.fetch(stage.origin.url("/b", host: "good.example.test")).file != nil)
        // Swift's own pool starts threads as needed, at most one per core.
        #expect(try threads() <= before + ProcessInfo.processInfo.processorCount)
        for fetch in stalled { fetch.cancel() }
      }
      await dns.stop()
    }
  }

  @Test(.tags(.realTime)) func `lines whose names are never answered leave as they came, on time, among the others`() async throws {
    let dns = try await StubDNS(["good.example.test": .addresses([.v4(0x7F00_0001)])], others: .silence)
    try await withFetchStage(dns: dns) { stage in
      let lines = (0..<1_000).map { number in
        guard number % 10 == 0 else { return FilterRun.line("http://n\(number).example.test/") }
        stage.origin.serve("/\(number)", Sample.png)
        return FilterRun.line(stage.origin.url("/\(number)", host: "good.example.test"))
      }
      let run = try await stage.filter(lines, deadline: .seconds(1), jobs: 1_000)
      for (index, record) in run.records.enumerated() {
        #expect(record.reason == (index % 10 == 0 ? nil : "deadline"))
        #expect((run.output[index] == lines[index]) == (index % 10 != 0))
      }
      #expect(run.late.isEmpty, "\(run.late.map(\.latenessMs))")
    }
    await dns.stop()
  }
}

/// The threads of this process.
private func threads() throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
}
