import AttacheTesting
import Foundation
import Glibc
import Testing

/// The HTTP cache of the built tool: across restarts, between processes, and when its index is not
/// available.
@Suite(.timeLimit(.minutes(1)))
struct CacheTests {
  private func lines(_ origin: FaultOrigin, _ names: some Sequence<Int>) -> String {
    names.map { Sample.payload(origin.url("/a.png?\($0)")) + "\n" }.joined()
  }

  private func caches(_ records: [ReportLine]) -> [String: Int] {
    records.flatMap(\.media).reduce(into: [:]) { $0[$1.cache ?? "", default: 0] += 1 }
  }

  @Test func `the next run fetches nothing that is fresh, and writes the same`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let input = lines(origin, 0..<300)
      let first = try await tool.reported(AttacheTool.loopback, input: input)
      let second = try await tool.reported(AttacheTool.loopback, input: input)
      #expect(caches(first.records) == ["miss": 300] && caches(second.records) == ["hit": 300])
      #expect(first.run.text == second.run.text)
      #expect(second.run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
      #expect(origin.requestCount() == 300)
    }
  }

  @Test func `two processes share an index, and each finds what the other wrote`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let programs = try (0..<2).map { number in try tool.start(AttacheTool.loopback + ["--report", tool.report + "\(number)"]) }
      for round in 0..<5 {
        for (number, program) in programs.enumerated() {
          program.input.write(lines(origin, (round * 400)..<(round * 400 + 300 + number * 100)))
        }
      }
      for program in programs { program.input.close() }
      for program in programs {
        let run = await program.finished()
        #expect(run.exit == .status(0))
        #expect(run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
        #expect(!run.errors.contains("index"))
      }
      let requests = origin.requestCount()
      let after = try await tool.reported(AttacheTool.loopback, input: lines(origin, 0..<2_000))
      #expect(caches(after.records) == ["hit": 2_000])
      #expect(origin.requestCount() == requests)
    }
  }

  @Test func `a run that is killed leaves an index that the next one reads, and no wrong picture`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      origin.serve("/b.gif", try Sample.medium("animation.gif"), faults: [.stallBeforeHeaders])
      let tool = try AttacheTool()
      for round in 0..<3 {
        let killed = try tool.start(AttacheTool.loopback)
        killed.input.write(lines(origin, (round * 600)..<(round * 600 + 600)))
        _ = await killed.lines(400 + round * 70)
        killed.send(SIGKILL)
        #expect(await killed.exit() == .signal(SIGKILL))
      }
      let (run, records) = try await tool.reported(AttacheTool.loopback, input: lines(origin, 0..<1_800))
      #expect(run.exit == .status(0))
      #expect(!run.errors.contains("index"))
      #expect(run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).map(\.type) == ["public.png"] })
      // At least one portion of rows was written before each kill.
      #expect(caches(records)["hit", default: 0] >= 256)
    }
  }

  @Test func `a damaged index is named once, set aside and begun anew`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let input = lines(origin, 0..<10)
      _ = try await tool.run(AttacheTool.loopback, input: input)
      try Data(repeating: 0x2A, count: 20_000).write(to: URL(filePath: tool.store + "/.index/index.sqlite"))
      let (second, records) = try await tool.reported(AttacheTool.loopback, input: input)
      #expect(second.exit == .status(0))
      #expect(caches(records) == ["miss": 10])
      #expect(second.errors.components(separatedBy: "index.sqlite.damaged").count == 2)
      let (third, again) = try await tool.reported(AttacheTool.loopback, input: input)
      #expect(caches(again) == ["hit": 10])
      #expect(!third.errors.contains("damaged"))
    }
  }

  @Test func `an index that cannot be opened or written costs the cache and no payload`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      try FileManager.default.createDirectory(atPath: tool.store + "/.index/index.sqlite", withIntermediateDirectories: true)
      for _ in 0..<2 {
        let (run, records) = try await tool.reported(AttacheTool.loopback, input: lines(origin, 0..<10))
        #expect(run.exit == .status(0))
        #expect(caches(records) == ["miss": 10])
        #expect(run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
      }
    }
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"))
  func `what the disk has no room for is not kept`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let disk = try MemoryDisk(at: tool.home["disk"])
      defer { disk.unmount() }
      let program = try tool.start(AttacheTool.loopback + ["--store", disk.path])
      program.input.write(lines(origin, 0..<1))
      _ = await program.lines(1)
      disk.fill()
      // One picture that is already there, and more rows than one portion.
      program.input.write(lines(origin, 1..<600))
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      disk.empty()
      let again = try await tool.run(AttacheTool.loopback + ["--store", disk.path], input: lines(origin, 0..<600))
      #expect(again.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
    }
  }

  @Test func `prune takes the rows of what it removes along, and leaves the index`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      _ = try await tool.run(AttacheTool.loopback, input: lines(origin, 0..<10))
      let pruned = try await tool.run(["store", "prune", "--store-max", "0B"])
      #expect(pruned.text.hasPrefix("removed 1 files"))
      #expect(try tool.storedFiles() == [])
      #expect(FileManager.default.fileExists(atPath: tool.store + "/.index/index.sqlite"))
      let (run, records) = try await tool.reported(AttacheTool.loopback, input: lines(origin, 0..<10))
      #expect(run.exit == .status(0) && caches(records) == ["miss": 10])
    }
  }
}
