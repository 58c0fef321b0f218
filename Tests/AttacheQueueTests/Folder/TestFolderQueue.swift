import Attache
@testable import AttacheQueue
import Foundation
import Synchronization
import Testing

/// A queue in a temporary folder, with what users do in the folder.
struct TestFolderQueue {
  let test: TestQueue
  let queue: any PayloadQueue
  let notices = Notices()

  /// The notices of the queue.
  final class Notices: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func add(_ text: String) {
      texts.withLock { $0.append(text) }
    }
  }

  init() throws {
    test = try TestQueue(.folder)
    queue = try test.open(notice: { [notices] in notices.add($0) })
  }

  /// The database of the queue, to write the last changes of a killed process.
  func database() throws -> SQLiteQueue {
    try SQLiteQueue(path: path("queue.sqlite"), creates: false, sync: .off, clock: test.clock)
  }

  func path(_ name: String) -> String { "\(test.path)/\(name)" }

  /// Drops a file as users should: written elsewhere and then moved.
  func drop(_ text: String, as name: String, age: TimeInterval = 0, in folder: String = "new") throws {
    let written = test.folder + "/written"
    try Data(text.utf8).write(to: URL(filePath: written))
    let time = Date(timeIntervalSince1970: 1_000_000_000 - age)
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: written)
    try FileManager.default.moveItem(atPath: written, toPath: path("\(folder)/" + name))
  }

  func text(_ name: String) -> String? {
    FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
  }

  func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path(folder))) ?? []).sorted()
  }

  /// All regular files within the folder.
  var files: [String] {
    let found = FileManager.default.enumerator(atPath: test.path)?.compactMap { $0 as? String } ?? []
    return found.filter { (try? FileManager.default.attributesOfItem(atPath: path($0))[.type]) as? FileAttributeType == .typeRegular }
      .sorted()
  }
}
