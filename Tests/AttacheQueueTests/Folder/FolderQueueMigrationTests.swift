import Attache
@testable import AttacheQueue
import Foundation
import Testing

@Suite struct FolderQueueMigrationTests {
  private let test: TestQueue
  private var path: String { test.path }

  init() throws {
    test = try TestQueue(.folder)
  }

  private func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted()
  }

  private static let earlier = [
    "ready", "later", "suspects", "leased", "results", "originals", "keys", "holds", "tmp", "queue", "workers", "journal",
    "migrated",
  ]

  /// Opens the queue of the fixture and checks each payload.
  private func expectWhole(_ queue: any PayloadQueue) throws {
    let counts = try queue.counts()
    #expect(counts.ready == 8)
    #expect(counts.waiting == 2)
    #expect(counts.leased == 0)
    #expect(counts.done == 4)
    #expect(counts.dead == 1)
    #expect(counts.unread == 3)
    #expect(counts.finishedLastMinute == 5)
    #expect(counts.oldest == .seconds(60))
    #expect(try queue.lines() == ["media\n", "read", "an output of its own\n", "dead\n"])
    #expect(try queue.results(ResultRequest(onlyUnread: true)).entries.map(\.id) == [10, 12, 13])
    #expect(try queue.knows([EarlierQueueFixture.key, [4]]) == 1)
    #expect(try queue.enqueue([NewPayload("again") { $0.key = EarlierQueueFixture.key }]) == 0)

    let leases = try queue.lease()
    #expect(
      leases.map(\.text) == [
        "ready", "{\"dropped\":1}", "delayed before the start", "of one that died", "of one that closed", "{\"waiting\":1}", "low",
      ])
    #expect(leases.map(\.token.id) == [1, 3, 7, 8, 9, 21, 2])
    #expect(leases.map(\.attempt) == [1, 1, 1, 1, 1, 1, 3])
    #expect(leases.map(\.deaths) == [0, 0, 0, 1, 0, 0, 0])
    #expect(leases.map(\.deathsAlone) == [0, 0, 0, 1, 0, 0, 0])
    #expect(leases.allSatisfy { $0.token.fence == 10 })
    #expect(try queue.leaseAlone().map(\.text) == ["suspect"])
    #expect(try queue.finish(leases.map { $0.finished() }) == [])
    test.clock.pass(.seconds(50))
    #expect(try queue.lease().map(\.text).contains("delayed"))
    test.clock.pass(.seconds(10))
    let late = try #require(try queue.lease().first { $0.text == "not before" })
    #expect(late.expiresAt == .seconds(1_794_000_600))

    #expect(try queue.markRead([10]).sorted() == ["/held/freed", "/held/one", "/held/taken", "/held/two"])
    #expect(try queue.retry(nil) == 2)
    #expect(try queue.lease().map(\.text) == ["its original", "dead"])
    #expect(
      names("done").filter { !$0.hasSuffix(".record") } == [
        "1", "10-dog.json", "11", "2", "21-waiting.json", "3-cat.json", "7", "8", "9",
      ])
    #expect(names("dead") == [])
    #expect(names("refused") == ["long"])
  }

  @Test func `a queue of an earlier attache is worked on, in each state`() throws {
    try EarlierQueueFixture().write(to: path)
    try expectWhole(test.open(creates: false))
    // Files that do not belong to the queue stay where they are.
    #expect(Self.earlier.filter { FileManager.default.fileExists(atPath: "\(path)/\($0)") } == ["ready"])
    #expect(names("ready/10") == ["notes"])
  }

  @Test func `a migration that was killed while it wrote the database begins again`() throws {
    try EarlierQueueFixture().write(to: path)
    let database = try SQLiteQueue(path: path + "/queue.sqlite", creates: true, sync: .off, clock: test.clock)
    _ = try database.enqueue([NewPayload("half of it")])
    try Data("left".utf8).write(to: URL(filePath: path + "/queue.sqlite-journal"))
    try expectWhole(test.open(creates: false))
  }

  @Test func `a migration that was killed while it removed the old files loses and repeats nothing`() throws {
    let fixture = EarlierQueueFixture()
    try fixture.write(to: path)
    try test.open(creates: false).close()
    // All old files are still there, and the mark has its other name.
    for (name, text) in fixture.files.map({ ($0 == "queue" ? "migrated" : $0, $1) })
    where !name.hasPrefix("new/") && !name.hasPrefix("done/") && !name.hasPrefix("dead/") {
      let file = "\(path)/\(name)"
      try FileManager.default.createDirectory(
        atPath: String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(filePath: file))
    }
    try expectWhole(test.open(creates: false))
    #expect(Self.earlier.filter { FileManager.default.fileExists(atPath: "\(path)/\($0)") } == ["ready"])
  }

  @Test(arguments: [false, true]) func `a folder of somebody else's beside the queue is left alone`(isMigrated: Bool) throws {
    if isMigrated { try EarlierQueueFixture().write(to: path) }
    try test.open(creates: !isMigrated).close()
    let others = ["tmp/draft.json", "keys/x", "holds/y/z", "originals/0/1", "later/1,q1;", "workers"]
    for file in others {
      let folder = URL(filePath: "\(path)/\(file)").deletingLastPathComponent()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(filePath: "\(path)/\(file)"))
    }
    let queue = try test.open(with: ["a"])
    _ = try queue.counts()
    queue.close()
    try test.open(creates: false).close()
    for file in others { #expect(FileManager.default.contents(atPath: "\(path)/\(file)") == Data("mine".utf8), "\(file)") }
  }

  @Test func `a folder with names that an earlier queue had is no queue`() throws {
    try FileManager.default.createDirectory(atPath: path + "/tmp", withIntermediateDirectories: true)
    #expect(throws: QueueError.self) { try test.open() }
    #expect(names("") == ["tmp"])
  }

  /// A result of payload 1, and a dropped file whose name ends in a carriage return, in the state
  /// in which a kill after some of the steps leaves them.
  @Test(arguments: 0...7) func `a call that had happened is completed`(taken: Int) throws {
    var fixture = EarlierQueueFixture()
    let steps: [(line: String, old: String?, new: String?)] = [
      ("m\ttmp/0\tresults/0/8,q1,f7,opassthrough,t1;", "tmp/0", "results/0/8,q1,f7,opassthrough,t1;"),
      ("l\tresults/0/8,q1,f7,opassthrough,t1;\tdone/8.record", nil, "done/8.record"),
      ("m\tleased/8;\tdone/8", "leased/8;", "done/8"), ("e\tkeys/ab/abcd", nil, "keys/ab/abcd"),
      ("m\ttmp/1\tready/10/0/21,q1;cat_", "tmp/1", "ready/10/0/21,q1;cat_"), ("r\tnew/cat%25\r", "new/cat%\r", nil), ("n\t22", nil, nil),
    ]
    fixture.files["tmp/0"] = "{\"line\":8}\n"
    fixture.files["tmp/1"] = "{ \"a\":1}\n"
    fixture.files["new/cat%\r"] = "{\n\"a\":1}\n"
    fixture.files = fixture.files.filter { !$0.key.hasPrefix("leased/8") }
    fixture.files["leased/8;"] = "eight\n"
    fixture.files["journal"] = steps.map(\.line).joined(separator: "\n") + "\nend\n"
    for step in steps.prefix(taken) {
      let text = step.old.flatMap { fixture.files.removeValue(forKey: $0) }
      if let new = step.new { fixture.files[new] = text ?? "{\"line\":8}\n" }
    }
    try fixture.write(to: path)
    let queue = try test.open(creates: false)
    #expect(try queue.lines().prefix(2) == ["eight\n", "media\n"])
    #expect(names("new") == ["waiting.json"])
    let leases = try queue.lease()
    #expect(leases.filter { $0.text == "{ \"a\":1}" }.map(\.token.id) == [21])
    #expect(leases.filter { $0.text == "{\"waiting\":1}" }.map(\.token.id) == [22])
    #expect(!FileManager.default.fileExists(atPath: path + "/journal"))
    #expect(try queue.counts().total == 16)
  }

  @Test(arguments: [
    "", "m\ttmp/0\tready/10/0/22;", "\0\0\0\0", "r\tqueue\nen", "m\tnew/waiting.json\t../stolen\nm\t/etc/passwd\tnew/x\nend\n",
  ])
  func `a journal that is torn, or leads out of the folder, changes nothing`(journal: String) throws {
    var fixture = EarlierQueueFixture()
    fixture.files["journal"] = journal
    try fixture.write(to: path)
    try expectWhole(test.open(creates: false))
    #expect(try FileManager.default.contentsOfDirectory(atPath: test.folder) == ["queue"])
  }

  @Test func `two payloads that an earlier attache gave one number are both worked`() throws {
    var fixture = EarlierQueueFixture()
    fixture.files["ready/10/0/1,q1;cat_"] = "another one\n"
    try fixture.write(to: path)
    let leases = try test.open(creates: false).lease()
    #expect(Set(leases.filter { ["ready", "another one"].contains($0.text) }.map(\.token.id)) == [1, 21])
  }

  @Test func `a queue that an earlier attache works is refused, and left as it is`() throws {
    try EarlierQueueFixture().write(to: path)
    let slot = try WorkerSlot(path: path + "/workers")
    #expect(try slot.enter() == 3)
    let before = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    #expect {
      _ = try test.open()
    } throws: { error in
      if case .unavailable(let text)? = error as? QueueError {
        text.contains("an earlier version of attache is processing this queue")
      } else {
        false
      }
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: path).sorted() == before)
    slot.leave()
    try expectWhole(test.open(creates: false))
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a disk without room for the database leaves the earlier queue as it is`() throws {
    let disk = try #require(QueueTestDisk(at: path, size: "2m"))
    defer { disk.unmount() }
    try EarlierQueueFixture().write(to: path)
    disk.fill()
    #expect {
      _ = try test.open(creates: false)
    } throws: { error in
      if case .full? = error as? QueueError { true } else { false }
    }
    #expect(names("").contains("queue"))
    #expect(names("").allSatisfy { !$0.hasPrefix("queue.sqlite") })
    disk.empty()
    try expectWhole(test.open(creates: false))
  }

  @Test func `a queue of an unknown version is refused`() throws {
    var fixture = EarlierQueueFixture()
    fixture.files["queue"] = "attache queue 0\n"
    try fixture.write(to: path)
    #expect(throws: QueueError.self) { try test.open() }
    #expect(names("").contains("ready"))
    #expect(!names("").contains("queue.sqlite"))
  }
}
