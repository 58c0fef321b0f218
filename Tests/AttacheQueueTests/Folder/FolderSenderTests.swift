import Attache
@testable import AttacheQueue
import CoreFoundation
import Foundation
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct FolderSenderTests {
  private final class Owner: SenderOwner {
    let answers = Mutex<[DeliveryAnswer]>([])
    let arrived = DispatchSemaphore(value: 0)

    func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)]) {
      self.answers.withLock { $0 += answers.map(\.answer) }
      arrived.signal()
    }
    func notify(_ notice: String) {}
    func slowDown() {}
    func restarted() {}
  }

  private let test: TestQueue
  private let queue: any PayloadQueue
  private let folder: String
  private let owner = Owner()

  init() throws {
    test = try TestQueue(.sqlite)
    queue = try test.open()
    folder = FileManager.default.temporaryDirectory.path + "/attache-out-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder + "/out", withIntermediateDirectories: true)
  }

  private func names(_ name: String = "out") -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)")) ?? []).sorted()
  }

  private func text(_ name: String) -> String? {
    FileManager.default.contents(atPath: "\(folder)/out/\(name)").map { String(decoding: $0, as: UTF8.self) }
  }

  private func delivery(_ id: Int64, _ line: String, _ name: String? = nil) -> Delivery {
    var delivery = Delivery(
      token: LeaseToken(id: id, fence: 1), line: Array(line.utf8), outcome: .attached, reason: nil, attempt: 1, expiresAt: nil, deaths: 0,
      deathsAlone: 0)
    (delivery.record, delivery.name) = (Array("{\"line\":\(id)}\n".utf8), name)
    return delivery
  }

  private func makeSender(_ name: String = "out", sync: SyncChoice = .off) throws -> FolderSender {
    try FolderSender("\(folder)/\(name)", queue: queue, address: "sqlite:/first", sync: sync)
  }

  private func send(_ deliveries: [Delivery]) throws -> [DeliveryAnswer] {
    let sender = try makeSender(sync: .group)
    try sender.start(owner)
    sender.send(deliveries)
    owner.arrived.wait()
    sender.close()
    return owner.answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }

  @Test func `each result is a file with its record beside it, and one that is repeated replaces them`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // Half of a file whose writer was killed.
    try FileManager.default.createDirectory(atPath: folder + "/out.writing", withIntermediateDirectories: false)
    try Data("a longer beginning".utf8).write(to: URL(filePath: folder + "/out.writing/17"))
    for _ in 0..<2 {
      #expect(try send([delivery(17, "media\n", "cat.json"), delivery(18, "no JSON\r\n")]) == [.delivered(), .delivered()])
      #expect(names() == ["17-cat.json", "17-cat.json.record", "18", "18.record"])
      #expect([text("17-cat.json"), text("17-cat.json.record"), text("18")] == ["media\n", "{\"line\":17}\n", "no JSON\r\n"])
    }
    #expect(names("out.writing") == [])
  }

  @Test func `a name that a queue's users made up leaves the folder nowhere`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = ["../../up", "x/../../../up", "a\nb", "a\0b", "..", "/", String(repeating: "n", count: 300) + ".json"]
    let deliveries = names.enumerated().map { delivery(Int64($0 + 1), "a\n", $1) }
    #expect(try send(deliveries) == names.map { _ in .delivered() })
    let kept = ["1-.._.._up", "2-x_.._.._.._up", "3-a_b", "4-a_b", "5-..", "6-_", "7-" + String(repeating: "n", count: 55) + ".json"]
    #expect(self.names() == kept.flatMap { [$0, $0 + ".record"] })
    #expect(self.names("") == ["out", "out.queue", "out.writing"])
  }

  @Test func `a link in the place of a file is replaced, and what cannot be replaced keeps only its own result waiting`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("mine".utf8).write(to: URL(filePath: folder + "/mine"))
    try FileManager.default.createSymbolicLink(atPath: folder + "/out/1", withDestinationPath: "../mine")
    try FileManager.default.createDirectory(atPath: folder + "/out/2", withIntermediateDirectories: false)
    let answers = try send([delivery(1, "a\n"), delivery(2, "b\n")])
    #expect(answers.first == .delivered())
    guard case .retry(after: nil, let reason)? = answers.last else {
      Issue.record("\(answers)")
      return
    }
    #expect(reason.contains("/out/2"))
    #expect(text("1") == "a\n")
    #expect(FileManager.default.contents(atPath: folder + "/mine") == Data("mine".utf8))
  }

  @Test func `another queue, whose results would have the same names, is refused`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try send([delivery(1, "a\n")]) == [.delivered()])
    let other = try TestQueue(.sqlite)
    #expect {
      _ = try FolderSender(folder + "/out", queue: other.open(), address: "sqlite:/other", sync: .off)
    } throws: { error in
      guard case .unavailable(let text)? = error as? QueueError else { return false }
      let mark = folder + "/out.queue"
      return text.hasSuffix(
        "/out: has results of sqlite:/first, whose names this queue would use too; choose another folder, or remove \(mark)")
    }
    // The same queue, opened again by another address.
    _ = try FolderSender(folder + "/out", queue: test.open(), address: "sqlite:/moved", sync: .off)
    try FileManager.default.removeItem(atPath: folder + "/out.queue")
    _ = try FolderSender(folder + "/out", queue: other.open(), address: "sqlite:/other", sync: .off)
  }

  @Test func `a folder whose files go into the queue is refused, and one of results for files`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func refusal(_ body: () throws -> Void) -> String? {
      guard case .unavailable(let text)? = #expect(throws: QueueError.self, performing: { try body() }) else { return nil }
      return text
    }
    let drops = try DropFolder(folder + "/out", queue: queue, address: "sqlite:/first", EnqueueOptions(), sync: .off) { _ in }
    _ = try drops.takeIn()
    #expect(refusal { _ = try makeSender() }?.contains("/out: its files go into sqlite:/first, as its results would") == true)
    try FileManager.default.removeItem(atPath: folder + "/out.queue")
    _ = try makeSender()
    #expect(refusal { _ = try drops.takeIn() }?.contains("/out: has results of sqlite:/first, which would come back") == true)
  }

  @Test func `a mark that a killed process left unfinished names no queue`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for text in ["", "0123456789abcdef", "0123456789abcdef\nout", "0123456789abcdef\nout\nsqlite:/oth"] {
      try Data(text.utf8).write(to: URL(filePath: folder + "/out.queue"))
      _ = try makeSender()
      let lines = try String(contentsOfFile: folder + "/out.queue", encoding: .utf8).split(separator: "\n")
      #expect(lines.prefix(3) == [queue.identity[...], "out", "sqlite:/first"])
    }
  }

  @Test func `a link in the place of the mark is not followed`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("mine".utf8).write(to: URL(filePath: folder + "/mine"))
    try FileManager.default.createSymbolicLink(atPath: folder + "/out.queue", withDestinationPath: "mine")
    #expect(throws: QueueError.self) { try makeSender() }
    #expect(FileManager.default.contents(atPath: folder + "/mine") == Data("mine".utf8))
  }

  @Test(arguments: [(0o700, 0o755, 0o700), (0o2770, 0o755, 0o750), (0o777, 0o1777, 0o700), (0o2770, 0o2770, 0o2770)])
  func `what is in transit has no rights that the folder or the one around it lacks`(inner: Int, outer: Int, expected: Int) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.setAttributes([.posixPermissions: inner], ofItemAtPath: folder + "/out")
    try FileManager.default.setAttributes([.posixPermissions: outer], ofItemAtPath: folder)
    #expect(try send([delivery(1, "a\n")]) == [.delivered()])
    var status = stat()
    #expect(unsafe stat(folder + "/out.writing", &status) == 0)
    #expect(Int(status.st_mode & 0o7777) == expected)
    #expect(unsafe stat(folder + "/out.queue", &status) == 0)
    #expect(status.st_mode & 0o007 == 0)
  }

  @Test func `without the folder nothing is delivered`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(throws: QueueError.self) { try makeSender("none") }
    let sender = try makeSender()
    try FileManager.default.removeItem(atPath: folder + "/out")
    try sender.start(owner)
    sender.send([delivery(1, "a\n")])
    owner.arrived.wait()
    sender.close()
    #expect(owner.answers.withLock(\.self) == [.refused(reason: "\(folder)/out: the folder was removed while it was in use")])
    #expect(names("") == ["out.queue"])
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting a file system needs root"))
  func `a full disk leaves no part of a file, and delivers when there is room`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let disk = try #require(QueueTestDisk(at: folder, size: "1m"))
    defer { disk.unmount() }
    try FileManager.default.createDirectory(atPath: folder + "/out", withIntermediateDirectories: false)
    // The mark is written at the start.
    _ = try makeSender()
    disk.fill()
    guard case .refused? = try send([delivery(1, String(repeating: "x", count: 100_000))]).first else {
      Issue.record("there was room")
      return
    }
    #expect(names() == [])
    disk.empty()
    #expect(try send([delivery(1, "a\n")]) == [.delivered()])
    #expect(names() == ["1", "1.record"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `only a deliverer that writes files gets records and names`(_ backend: QueueBackend) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let test = try TestQueue(backend)
    let queue = try test.open()
    _ = try queue.enqueue([NewPayload("a") { $0.name = "cat.json" }], batch: "b1")
    _ = try queue.enqueue([NewPayload("b")])
    _ = try queue.finish(queue.lease().map { $0.finished() })
    for isOrdered in [false, true] {
      var request = DeliveryRequest(limit: 10, span: .seconds(10), isOrdered: isOrdered)
      let plain = try queue.settle([], claiming: request).deliveries
      #expect(plain.map(\.record) == [[], []])
      #expect(plain.map(\.name) == [nil, nil])
      _ = try queue.settle(plain.map { SettledDelivery($0.token, .returned(after: .zero, tried: nil)) }, claiming: nil)
      request.includesFiles = true
      let whole = try queue.settle([], claiming: request).deliveries
      #expect(whole.map { String(decoding: $0.record, as: UTF8.self) } == ["{\"line\":1}\n", "{\"line\":2}\n"])
      #expect(whole.map(\.name) == ["cat.json", nil])
      _ = try queue.settle(whole.map { SettledDelivery($0.token, .returned(after: .zero, tried: nil)) }, claiming: nil)
    }
  }
}
