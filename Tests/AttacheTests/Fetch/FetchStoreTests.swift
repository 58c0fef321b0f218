import AttacheTesting
import Glibc
import Testing

@testable import Attache

/// A store that fails while fetches are under way.
@Suite(.timeLimit(.minutes(1)), .enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting takes root's capability"))
struct FetchStoreTests {
  private func withDisk(_ body: (FetchStage, AttachmentStoreTestDisk) async throws -> Void) async throws {
    let folder = AttachmentStoreTestFolder()
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    try await withFetchStage(folder: folder, subfolder: "disk/") { try await body($0, disk) }
  }

  @Test func `what does not fit is a fallback, and what fits is attached`() async throws {
    try await withDisk { stage, _ in
      let (png, large) = (Sample.png, Sample.padded(Sample.png, to: 200_000))
      for number in 0..<20 { stage.origin.serve("/\(number)", number % 2 == 0 ? png : large) }
      let lines = (0..<20).map { FilterRun.line(stage.origin.url("/\($0)")) }
      let run = try await stage.filter(lines, jobs: 1)
      for (index, record) in run.records.enumerated() {
        #expect(record.reason == (index % 2 == 0 ? nil : "store.full"))
        #expect((run.output[index] == lines[index]) == (index % 2 == 1))
      }
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a disk that turns read-only is a fallback, not an end`() async throws {
    try await withDisk { stage, disk in
      for path in ["/a", "/b"] { stage.origin.serve(path, path == "/a" ? Sample.png : Sample.mp3) }
      let before = await stage.fetch("/a")
      disk.turnReadOnly()
      #expect(await stage.fetch("/b").reason == .storeReadOnly)
      #expect(await stage.fetch("/a").file == before.file, "what is in the store is still to be had")
    }
  }

  @Test func `a full store is no longer one when there is room again`() async throws {
    try await withDisk { stage, disk in
      stage.origin.serve("/a", Sample.mp3)
      disk.fill()
      #expect(await stage.fetch("/a").reason == .storeFull)
      disk.empty()
      #expect(await stage.fetch("/a").file != nil)
    }
  }
}

extension AttachmentStoreTestDisk {
  /// Gives back what ``fill()`` took.
  fileprivate func empty() {
    unsafe unlink(path + "/filler")
  }
}
