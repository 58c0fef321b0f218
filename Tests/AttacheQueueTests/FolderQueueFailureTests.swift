import Attache
import AttacheQueue
import Foundation
import Glibc
import Testing

@Suite struct FolderQueueFailureTests {
  private func unavailable(_ test: TestQueue, creates: Bool = true) -> String? {
    do {
      _ = try test.open(creates: creates)
      return nil
    } catch {
      guard case .unavailable(let text)? = error as? QueueError else { return nil }
      return text.replacing(test.location.path, with: "PATH")
    }
  }

  @Test func `a folder with other things in it is no queue, and gets nothing of one`() throws {
    let test = try TestQueue(.folder)
    try FileManager.default.createDirectory(atPath: test.location.path + "/new", withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(filePath: test.location.path + "/notes.txt"))
    #expect(unavailable(test) == "PATH: holds other things (notes.txt); a queue needs a folder of its own")
    #expect(unavailable(test, creates: false) == "PATH: is no queue; `attache enqueue` makes one")
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.location.path).sorted() == ["new", "notes.txt"])
  }

  @Test func `a file is no folder, and one of another version no queue of this`() throws {
    let test = try TestQueue(.folder)
    try Data("mine".utf8).write(to: URL(filePath: test.location.path))
    #expect(unavailable(test)?.hasPrefix("PATH: Not a directory") == true)
    try FileManager.default.removeItem(atPath: test.location.path)
    try test.open().close()
    try Data("attache queue 2\n".utf8).write(to: URL(filePath: test.location.path + "/queue"))
    #expect(unavailable(test) == "PATH: is no queue of this version; name another one")
  }

  @Test func `an empty folder becomes a queue, and keeps its mode`() throws {
    let test = try TestQueue(.folder)
    unsafe mkdir(test.location.path, 0o700)
    unsafe chmod(test.location.path, 0o2770)
    let queue = try test.open(with: ["a"])
    for folder in ["new", "done", "ready/10"] {
      let mode = try FileManager.default.attributesOfItem(atPath: test.location.path + "/" + folder)[.posixPermissions] as? Int
      #expect(mode == 0o2770)
    }
    _ = try queue.finish([queue.leaseOne().finished(output: "b\n")])
    let mode = try FileManager.default.attributesOfItem(atPath: test.location.path + "/done/1")[.posixPermissions] as? Int
    #expect(mode == 0o660)
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system takes root"))
  func `a full disk refuses a call as a whole, and what it has can be read and made room of`() throws {
    let test = try TestQueue(.folder)
    let disk = try #require(QueueTestDisk(at: test.location.path, size: "256k"))
    defer { disk.unmount() }
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease()
    _ = try queue.finish([leases[0].finished()])
    disk.fill()
    let large = [UInt8](repeating: 0x20, count: 8_192)
    for call in [
      { _ = try queue.enqueue([NewPayload("c"), NewPayload(line: large)]) }, { try Self.finish(leases[1], with: large, in: queue) },
    ] {
      #expect {
        try call()
      } throws: { error in
        if case .full? = error as? QueueError { true } else { false }
      }
    }
    #expect(try queue.counts().total == 2)
    #expect(try queue.lines() == ["a\n"])
    _ = try queue.markRead([1])
    disk.empty()
    #expect(try queue.finish([leases[1].finished(output: "B\n")]) == [])
    #expect(try queue.enqueue([NewPayload("c")]) == 1)
    #expect(try queue.lines() == ["a\n", "B\n"])
    #expect(try queue.leaseOne().token.id == 3)
  }

  private static func finish(_ lease: Lease, with output: [UInt8], in queue: any PayloadQueue) throws {
    _ = try queue.finish([FinishedPayload(lease.token, output: output, outcome: .attached, reason: nil, record: lease.record)])
  }

  @Test func `a queue that is removed while it is in use is not done`() throws {
    let test = try TestQueue(.folder)
    let queue = try test.open(with: ["a"])
    try FileManager.default.removeItem(atPath: test.location.path)
    #expect {
      _ = try queue.claim(.upTo(1))
    } throws: { error in
      if case .unavailable(let text)? = error as? QueueError { text.contains("was removed") } else { false }
    }
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system takes root"))
  func `a queue that cannot be written can be looked at`() throws {
    let test = try TestQueue(.folder)
    let disk = try #require(QueueTestDisk(at: test.location.path, size: "256k"))
    defer { disk.unmount() }
    try {
      let queue = try test.open(with: ["a", "b"])
      _ = try queue.finish([queue.leaseOne().finished()])
    }()
    disk.turnReadOnly()
    let queue = try test.open(creates: false)
    #expect(try queue.counts().total == 2)
    #expect(try queue.lines() == ["a\n"])
    for call in [{ _ = try queue.enqueue([NewPayload("c")]) }, { _ = try queue.claim(.upTo(1)) }, { _ = try queue.markRead([1]) }] {
      #expect {
        try call()
      } throws: { error in
        if case .unavailable(let text)? = error as? QueueError { text.contains("Read-only file system") } else { false }
      }
    }
  }
}
