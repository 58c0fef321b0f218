import Attache
import Foundation
import Glibc
import Testing

@Suite struct AttachmentStoreSharingTests {
  let folder = AttachmentStoreTestFolder()

  @Test func `what a dead process left unfinished goes at the next start`() throws {
    folder.makeFolder("tmp")
    folder.makeFolder("tmp/4711-123")
    folder.write([1], to: "tmp/4711-123/1")
    folder.write([2], to: "tmp/4711-123/22")
    let store = try folder.store()
    #expect(folder.files.isEmpty)
    #expect(folder.mode("tmp/4711-123") == nil)
    withExtendedLifetime(store) {}
  }

  @Test func `a process killed in the middle of a file leaves nothing after the next start`() async throws {
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try AttachmentStore(directory: path, maximumBytes: 1_000_000, maximumAge: .seconds(3600))
      let file = try store.beginFile()
      try file.append([1, 2, 3])
      _ = try store.add([4])
      kill(getpid(), SIGKILL)
    }
    #expect(folder.files.count == 2)
    let store = try folder.store()
    #expect(folder.files.count == 1)
    #expect(folder.files.allSatisfy { !$0.hasPrefix("tmp/") })
    withExtendedLifetime(store) {}
  }

  @Test func `the unfinished files of a process that lives stay`() throws {
    let file = try folder.store().beginFile()
    try file.append([1])
    let other = try folder.store()
    try other.prune()
    #expect(folder.files.count == 1)
    #expect(try file.finish(type: .png).size == 1)
  }

  @Test func `what is not the store's own stays in the folder of temporary files`() throws {
    folder.makeFolder("tmp")
    folder.makeFolder("tmp/4711-123")
    folder.makeFolder("tmp/notes")
    folder.write([1], to: "tmp/4711-123/mine")
    folder.write([1], to: "tmp/4711-123/1")
    folder.write([1], to: "tmp/notes/1")
    folder.write([1], to: "tmp/12-34")
    let store = try folder.store()
    #expect(folder.files == ["tmp/12-34", "tmp/4711-123/mine", "tmp/notes/1"])
    withExtendedLifetime(store) {}
  }

  @Test func `a store that is let go of leaves no folder of its own`() throws {
    _ = try folder.store()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder["tmp"]).isEmpty)
  }

  @Test func `two processes that store the same content end with one file`() throws {
    let first = try folder.store()
    let second = try folder.store()
    let one = try first.beginFile()
    let two = try second.beginFile()
    try one.append([1, 2, 3])
    try two.append([1, 2, 3])
    let stored = try one.finish(type: .gif)
    #expect(try two.finish(type: .gif) == stored)
    #expect(folder.files == [stored.relativePath])
  }

  @Test func `stores that start at once on one folder all start, and none takes another's file`() async throws {
    let folder = folder
    try await withThrowingTaskGroup { group in
      for number in 0..<32 {
        group.addTask {
          let store = try folder.store()
          let file = try store.beginFile()
          try file.append([UInt8(number)])
          _ = try folder.store()
          _ = try file.finish(type: .png)
        }
      }
      try await group.waitForAll()
    }
    #expect(folder.files.count == 32)
  }
}
