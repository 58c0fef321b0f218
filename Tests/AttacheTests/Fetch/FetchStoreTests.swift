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
    try await withFetchStage(folder: folder, subfolder: "disk/") {
      // No system turns a disk read-only by command on which a file is open for writing, as the
      // index is.
      $0.cache = .session
    } _: { stage in
      try await body(stage, disk)
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
