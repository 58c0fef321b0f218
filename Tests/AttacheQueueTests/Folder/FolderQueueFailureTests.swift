import Attache
import AttacheQueue
import Foundation
import GRDB
import Glibc
import Testing

@Suite struct FolderQueueFailureTests {
  private func unavailable(_ test: TestQueue, creates: Bool = true) -> String? {
    do {
      _ = try test.open(creates: creates)
      return nil
    } catch {
      guard case .unavailable(let text)? = error as? QueueError else { return nil }
      return text.replacing(test.path, with: "PATH")
    }
  }

  @Test func `a folder with other things in it is no queue, and gets nothing of one`() throws {
    let test = try TestQueue(.folder)
    try FileManager.default.createDirectory(atPath: test.path + "/new", withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(filePath: test.path + "/notes.txt"))
    #expect(unavailable(test) == "PATH: contains other files (notes.txt); a queue needs its own folder")
    #expect(unavailable(test, creates: false) == "PATH: is not a queue; `attache enqueue` creates one")
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.path).sorted() == ["new", "notes.txt"])
  }

  @Test func `a file is refused, and a queue of another version`() throws {
    let test = try TestQueue(.folder)
    try Data("mine".utf8).write(to: URL(filePath: test.path))
    #expect(unavailable(test)?.hasPrefix("PATH: Not a directory") == true)
    try FileManager.default.removeItem(atPath: test.path)
    try test.open().close()
    try DatabaseQueue(path: test.path + "/queue.sqlite").writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 2") }
    #expect(
      unavailable(test) == "PATH/queue.sqlite: the queue has version 2 of the tables, and this attache needs version 1; "
        + "finish the queue with the attache that made it, or choose another queue")
  }

  @Test func `an empty folder becomes a queue, and keeps its mode`() throws {
    let test = try TestQueue(.folder)
    unsafe mkdir(test.path, 0o700)
    unsafe chmod(test.path, 0o2770)
    let queue = try test.open(with: ["a"])
    for folder in ["new", "done", "outgoing"] {
      let mode = try FileManager.default.attributesOfItem(atPath: test.path + "/" + folder)[.posixPermissions] as? Int
      #expect(mode == 0o2770)
    }
    _ = try queue.finish([queue.leaseOne().finished(output: "b\n")])
    for file in ["done/1", "lock", "queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm", "queue.sqlite-workers"] {
      let mode = try FileManager.default.attributesOfItem(atPath: test.path + "/" + file)[.posixPermissions] as? Int
      #expect(mode == 0o660, "\(file)")
    }
  }

  @Test func `the files of a queue in a sticky folder are their makers' to write`() throws {
    let test = try TestQueue(.folder)
    unsafe mkdir(test.path, 0o700)
    unsafe chmod(test.path, 0o1777)
    let queue = try test.open(with: ["a"])
    _ = try queue.finish([queue.leaseOne().finished(output: "b\n")])
    for file in ["done/1", "lock", "queue.sqlite", "queue.sqlite-workers"] {
      let mode = try FileManager.default.attributesOfItem(atPath: test.path + "/" + file)[.posixPermissions] as? Int
      // The umask may remove more permissions.
      #expect(mode.map { $0 & 0o022 } == 0, "\(file)")
    }
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a full disk keeps results from their files, further payloads from being worked, and nothing else`() throws {
    let test = try TestQueue(.folder)
    let disk = try #require(QueueTestDisk(at: test.path, size: "4m"))
    defer { disk.unmount() }
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease(1)
    // Replaced rows leave space in the database.
    for _ in 0..<20 { _ = try queue.enqueue([NewPayload(line: [UInt8](repeating: 0x20, count: 8_192))]) }
    disk.fill()
    #expect(isFull { while true { _ = try queue.enqueue([NewPayload(line: [UInt8](repeating: 0x20, count: 8_192))]) } })
    disk.empty()
    let room = unsafe open(test.path + "/.room", O_WRONLY | O_CREAT, 0o600)
    #expect(posix_fallocate(room, 0, 64 << 10) == 0)
    disk.fill()
    // The database can use this space, the result files cannot.
    unsafe unlink(test.path + "/.room")
    close(room)
    _ = try? queue.finish([leases[0].finished()])
    disk.fill()
    let total = try queue.counts().total
    if try queue.counts().done == 1, names(test, "done").isEmpty { #expect(isFull { _ = try queue.claim(.upTo(1)) }) }
    #expect(names(test, "outgoing").isEmpty)
    disk.empty()
    _ = try queue.finish([leases[0].finished()])
    #expect(try queue.lease(1).map(\.text) == ["b"])
    #expect(names(test, "done") == ["1", "1.record"])
    #expect(try queue.counts().total == total)
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a dropped file that finds no room in the queue is taken in when there is some, once`() throws {
    let test = try TestQueue(.folder)
    let disk = try #require(QueueTestDisk(at: test.path, size: "2m"))
    defer { disk.unmount() }
    let queue = try test.open()
    #expect(try queue.lease().isEmpty)
    let text = String(repeating: "x", count: 400_000)
    try Data(text.utf8).write(to: URL(filePath: test.path + "/new/large"))
    disk.fill()
    for _ in 0..<2 { #expect(isFull { _ = try queue.claim(.upTo(1)) }) }
    #expect(try queue.counts().ready == 1)
    disk.empty()
    #expect(try queue.lease().map(\.text) == [text])
    #expect(try queue.counts().total == 1)
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a dropped file that cannot be moved stays, and the others are worked`() throws {
    let folder = try TestFolderQueue()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    // The kernel refuses to rename a mount point, as it refuses to move another user's file out of
    // a sticky folder.
    #expect(unsafe mount(folder.path("lock"), folder.path("new/a"), nil, UInt(MS_BIND), nil) == 0)
    defer { unsafe umount2(folder.path("new/a"), Int32(MNT_DETACH)) }
    #expect(try folder.queue.lease().map(\.text) == ["b"])
    #expect(try folder.queue.claim(.upTo(10)).next != .zero)
    #expect(folder.notices.all.count == 1)
    #expect(folder.notices.all.first?.hasSuffix("new/a: cannot be moved and stays there") == true)
    #expect(folder.names("new") == ["a"])
    #expect(folder.names("intake").isEmpty)
    unsafe umount2(folder.path("new/a"), Int32(MNT_DETACH))
    #expect(try folder.queue.lease().map(\.text) == ["a"])
  }

  @Test func `a dropped file whose reading fails is put aside, and the others are worked`() throws {
    let folder = try TestFolderQueue()
    for name in ["a", "b"] { try folder.drop(name, as: name) }
    let file = unsafe open(folder.path("new/a"), O_RDWR | O_CLOEXEC)
    defer { close(file) }
    // A write lease keeps others from opening the file. The kernel asks for it back by a signal;
    // use one that has no effect here.
    let (setSignal, setLease): (Int32, Int32) = (10, 1024)
    #expect(fcntl(file, setSignal, SIGURG) == 0)
    #expect(fcntl(file, setLease, Int32(F_WRLCK)) == 0)
    #expect(try folder.queue.lease().map(\.text) == ["b"])
    #expect(folder.names("refused") == ["a"])
    #expect(folder.notices.all.first?.hasSuffix("refused/a: the file cannot be read and was moved there") == true)
  }

  private func names(_ test: TestQueue, _ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(test.path)/\(folder)")) ?? []).sorted()
  }

  @Test func `a queue that is removed while it is in use is not done`() throws {
    let test = try TestQueue(.folder)
    let queue = try test.open(with: ["a"])
    try FileManager.default.removeItem(atPath: test.path)
    #expect {
      _ = try queue.claim(.upTo(1))
    } throws: { error in
      if case .unavailable(let text)? = error as? QueueError { text.contains("was removed") } else { false }
    }
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a queue that cannot be written is refused`() throws {
    let test = try TestQueue(.folder)
    let disk = try #require(QueueTestDisk(at: test.path, size: "4m"))
    defer { disk.unmount() }
    try test.open(with: ["a", "b"]).close()
    disk.turnReadOnly()
    #expect(unavailable(test, creates: false) != nil)
  }

  @Test func `a path with a line feed is one line in a message`() throws {
    let test = try TestQueue(.folder)
    let location = QueueLocation.folder(path: test.folder + "/a\nb")
    do {
      _ = try location.open(creates: false)
      Issue.record("there is no queue")
    } catch {
      #expect("\(error)" == "\(test.folder)/a\\u{A}b: there is no such queue; `attache enqueue` creates one")
    }
    #expect(QueueStatus(location, QueueCounts(), rate: 0).lines.first == "dir:\(test.folder)/a\\u{A}b: 0 payloads")
  }
}
