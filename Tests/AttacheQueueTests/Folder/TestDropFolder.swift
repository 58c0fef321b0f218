import Attache
@testable import AttacheQueue
import Foundation
import Testing

/// A folder of dropped files and a queue that gets them, with what users do in the folder.
final class TestDropFolder {
  let test: TestQueue
  let queue: HookedQueue
  private(set) var notices: [String] = []
  private var drops: DropFolder?

  init(_ backend: QueueBackend = .sqlite) throws {
    test = try TestQueue(backend)
    queue = HookedQueue(try test.open())
    try FileManager.default.createDirectory(atPath: path("in"), withIntermediateDirectories: false)
    drops = try opened()
  }

  /// Opens the folder as another process does.
  ///
  /// - Parameter other: another queue, instead of this one.
  func opened(_ options: EnqueueOptions = EnqueueOptions(), of other: (any PayloadQueue)? = nil) throws -> DropFolder {
    try DropFolder(path("in"), queue: other ?? queue, address: other == nil ? "sqlite:/first" : "sqlite:/other", options, sync: .off) {
      [unowned self] in notices.append($0)
    }
  }

  /// Goes on as a process that is started after a kill.
  func restart() throws {
    drops = try opened()
  }

  /// Adds one batch.
  @discardableResult
  func takeIn() throws -> Bool { try #require(drops).takeIn() }

  /// Adds all files, and leases their payloads.
  func lease() throws -> [Lease] {
    while try takeIn() {}
    return try queue.lease(10_000)
  }

  func path(_ name: String) -> String { "\(test.folder)/\(name)" }

  /// Drops a file as users should: written elsewhere and then moved.
  func drop(_ text: String, as name: String, age: TimeInterval = 0, in folder: String = "in") throws {
    let written = path("written")
    try Data(text.utf8).write(to: URL(filePath: written))
    let time = Date(timeIntervalSince1970: 1_000_000_000 - age)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: written)
    try FileManager.default.moveItem(atPath: written, toPath: path("\(folder)/" + name))
  }

  /// Drops a sparse file.
  func drop(bytes: Int, as name: String) throws {
    try drop("", as: name)
    let file = try FileHandle(forWritingTo: URL(filePath: path("in/" + name)))
    try file.truncate(atOffset: UInt64(bytes))
    try file.close()
  }

  func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path(folder))) ?? []).sorted()
  }
}
