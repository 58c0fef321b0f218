@testable import AttacheQueue
import Foundation
import Testing

@Suite struct FolderWatchTests {
  private let home = FileManager.default.temporaryDirectory.path + "/attache-watch-\(UUID().uuidString)"
  private var folder: String { home + "/in" }

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Whether the watch ends its wait after these changes.
  private func notices(_ watch: FolderWatch, _ change: () throws -> Void) throws -> Bool {
    try change()
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      watch.wait()
      ended.signal()
    }
    return ended.wait(timeout: .now() + 5) == .success
  }

  @Test func `a file that is written, moved in or made readable ends the wait`() throws {
    defer { try? FileManager.default.removeItem(atPath: home) }
    let watch = try FolderWatch(folder)
    defer { watch.stop() }
    let file = folder + "/a"
    #expect(try notices(watch) { try Data("a".utf8).write(to: URL(filePath: file)) })
    #expect(try notices(watch) { try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file) })
    try FileManager.default.moveItem(atPath: file, toPath: home + "/a")
    #expect(try notices(watch) { try FileManager.default.moveItem(atPath: home + "/a", toPath: file) })
  }

  @Test func `a folder that takes the place of the first is watched`() throws {
    defer { try? FileManager.default.removeItem(atPath: home) }
    let watch = try FolderWatch(folder)
    defer { watch.stop() }
    #expect(
      try notices(watch) {
        try FileManager.default.moveItem(atPath: folder, toPath: home + "/old")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      })
    #expect(try notices(watch) { try Data("a".utf8).write(to: URL(filePath: folder + "/a")) })
  }

  @Test func `stopping ends the wait`() throws {
    defer { try? FileManager.default.removeItem(atPath: home) }
    let watch = try FolderWatch(folder)
    #expect(try notices(watch) { watch.stop() })
    #expect(watch.isStopped)
  }
}
