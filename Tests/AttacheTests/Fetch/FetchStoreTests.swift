import AttacheTesting
import Glibc
import Testing

@testable import Attache

/// A store that fails during fetches.
@Suite(.timeLimit(.minutes(1)), .enabled(if: AttachmentStoreTestDisk.isPermitted, "mounting needs root's capability"))
struct FetchStoreTests {
  private func withDisk(_ body: (FetchStage, AttachmentStoreTestDisk) async throws -> Void) async throws {
    let folder = AttachmentStoreTestFolder()
    let disk = try #require(AttachmentStoreTestDisk(at: folder["disk"]))
    defer { disk.unmount() }
    try await withFetchStage(folder: folder, subfolder: "disk/") {
      // The system does not make a disk read-only while a file on it, such as the index, is open
      // for writing.
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
      #expect(await stage.fetch("/a").file == before.file, "files in the store can still be used")
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
  /// Frees the space that ``fill()`` used.
  fileprivate func empty() {
    unsafe unlink(path + "/filler")
  }
}
