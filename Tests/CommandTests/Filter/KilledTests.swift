import Attache
import AttacheTesting
import Foundation
import Glibc
import Testing

/// attache, killed during a run and started again.
@Suite(.timeLimit(.minutes(1)))
struct KilledTests {
  @Test func `a kill in the middle of downloads leaves no half file, and the next run takes the leftovers away`() async throws {
    try await withOrigin { origin in
      let picture = try Sample.medium("picture.png")
      let film = try Sample.medium("clip.mp4")
      origin.serve("/whole.png", picture)
      origin.serve("/half.mp4", film, faults: [.stall(afterBytes: film.count - 1)])
      let tool = try AttacheTool()
      let lines =
        Sample.payload(origin.url("/whole.png")) + "\n" + (0..<20).map { Sample.payload(origin.url("/half.mp4?\($0)")) + "\n" }.joined()

      let killed = try tool.start(AttacheTool.loopback + ["--per-host", "30"])
      killed.input.write(lines)
      _ = await killed.lines(1)
      await origin.waitForStalls(count: 20, path: "/half.mp4")
      killed.send(SIGKILL)
      #expect(await killed.exit() == .signal(SIGKILL))
      try expectOnlyWholeFiles(tool)

      origin.release("/half.mp4")
      let again = try await tool.run(AttacheTool.loopback, input: lines)
      #expect(again.exit == .status(0))
      #expect(again.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
      try expectOnlyWholeFiles(tool)
      #expect(try tool.storedFiles().count == 2, "only the two media are left")
    }
  }

  /// A run that ends normally also leaves nothing unfinished, whatever was in progress.
  @Test func `a run whose downloads were broken off leaves nothing unfinished`() async throws {
    try await withOrigin { origin in
      let film = try Sample.medium("clip.mp4")
      origin.serve("/half.mp4", film, faults: [.stall(afterBytes: film.count - 1)])
      let tool = try AttacheTool()
      let line = Sample.payload(origin.url("/half.mp4"))
      let run = try await tool.run(AttacheTool.loopback + ["--deadline", "300ms"], input: line)
      #expect(run.exit == .status(0))
      #expect(run.text == line)
      #expect(try tool.storedFiles() == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: tool.store + "/tmp") == [])
    }
  }

  /// The content of every named file in the store matches its name.
  private func expectOnlyWholeFiles(_ tool: AttacheTool) throws {
    for name in try tool.storedFiles() where !name.hasPrefix("tmp/") {
      let bytes = try Data(contentsOf: URL(filePath: "\(tool.store)/\(name)"))
      let digest = SHA256.hash(Array(bytes)).hexadecimal()
      #expect(name.hasPrefix("\(digest.prefix(2))/\(digest)."))
    }
  }
}
