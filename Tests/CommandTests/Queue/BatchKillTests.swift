import AttacheTesting
import Foundation
import Glibc
import Testing

/// A batch that is killed and started again.
@Suite(.timeLimit(.minutes(2)))
struct BatchKillTests {
  private static let pictures = 90
  private static let kills = 10

  @Test func `killed ten times, a batch writes what one run writes, and fetches nothing again that was finished`() async throws {
    try await withOrigin { origin in
      let picture = try Sample.medium("picture.png")
      for number in 1...Self.pictures { origin.serve("/\(number).png", picture, faults: [.delay(.milliseconds(20))]) }
      let tool = try AttacheTool()
      let (input, queue) = (tool.home["in.ndjson"], "sqlite:\(tool.home["queue"])")
      let lines = (1...Self.pictures).flatMap { [Sample.payload(origin.url("/\($0).png")), #"{"aps":{"alert":"Hello"},"n":\#($0)}"#] }
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: input))
      let words = AttacheTool.loopback + ["--jobs", "4", "--poison-after", "1000000"]
      #expect(try await tool.run(["batch", input, "-o", tool.home["one-run"]] + words).exit == .status(0))
      try FileManager.default.removeItem(atPath: tool.store)

      let batch = ["batch", input, "-o", tool.home["out"], "--queue", queue] + words
      var settled: [Int: Int] = [:]
      for _ in 1...Self.kills {
        let killed = try tool.start(batch)
        await origin.waitForRequests(count: origin.requestCount() + 5)
        killed.send(SIGKILL)
        #expect(await killed.exit() == .signal(SIGKILL))
        #expect(!FileManager.default.fileExists(atPath: tool.home["out"]), "the output appears when it is complete")
        for picture in try await finished(tool, queue) where settled[picture] == nil {
          settled[picture] = origin.requestCount(path: "/\(picture).png")
        }
      }
      #expect(try await tool.run(batch).exit == .status(0))
      #expect(try Data(contentsOf: URL(filePath: tool.home["out"])) == Data(contentsOf: URL(filePath: tool.home["one-run"])))
      #expect(!settled.isEmpty)
      for (picture, count) in settled { #expect(origin.requestCount(path: "/\(picture).png") == count, "\(picture)") }
    }
  }

  /// The pictures whose payloads have their result.
  private func finished(_ tool: AttacheTool, _ queue: String) async throws -> [Int] {
    let records = try await tool.run(["results", "--queue", queue, "--report"])
    #expect(records.exit == .status(0))
    return try records.text.split(separator: "\n").compactMap { line in
      let record = try ReportLine(parsing: line.utf8)
      return record.line % 2 == 1 ? (record.line + 1) / 2 : nil
    }
  }
}
