@testable import AttacheQueue
import Attache
import Foundation
import Synchronization
import Testing

/// Writing the results of a queue to a file.
@Suite(.timeLimit(.minutes(1)))
struct ResultStreamTests {
  private func written(_ queue: ListeningQueue, change: (inout ResultStream.Options) -> Void = { _ in }) throws -> String {
    var options = ResultStream.Options()
    change(&options)
    let pipe = Pipe()
    let stream = try ResultStream(queue, options, descriptor: pipe.fileHandleForWriting.fileDescriptor)
    _ = try stream.run()
    try pipe.fileHandleForWriting.close()
    return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  @Test func `results come in the order enqueued, those without one are passed over, and nothing counts as read`() throws {
    let queue = ListeningQueue()
    for line in ["a\n", nil, "b\r\n", "c\n"] { queue.add(result: line) }
    #expect(try written(queue) == "a\nb\r\nc\n")
    #expect(queue.read.isEmpty)
  }

  @Test func `what is unread is written once, and counts as read from then on`() throws {
    let queue = ListeningQueue()
    for line in ["a\n", nil, "b\r\n", "c\n"] { queue.add(result: line) }
    #expect(try written(queue) { $0.onlyUnread = true } == "a\nb\r\nc\n")
    #expect(queue.read == [1, 3, 4])
    #expect(try written(queue) { $0.onlyUnread = true } == "")
  }

  @Test func `a line without an ending gets a line feed when another follows`() throws {
    let queue = ListeningQueue()
    for line in ["a", "b\n", "c"] { queue.add(result: line) }
    #expect(try written(queue) == "a\nb\nc")
  }

  @Test func `what is read bit by bit has an ending on each line`() throws {
    let queue = ListeningQueue()
    queue.add(result: "a")
    #expect(try written(queue) { $0.onlyUnread = true } == "a\n")
  }

  @Test func `records stand in the place of lines, and count nothing as read`() throws {
    let queue = ListeningQueue()
    for line in ["a\n", "b\n"] { queue.add(result: line) }
    #expect(try written(queue) { $0.writesRecords = true } == "{\"line\":1}\n{\"line\":2}\n")
    #expect(queue.read.isEmpty)
  }

  @Test func `more than a page comes whole`() throws {
    let queue = ListeningQueue()
    for number in 0..<1_000 { queue.add(result: "\(number)\n") }
    #expect(try written(queue) { $0.onlyUnread = true } == (0..<1_000).map { "\($0)\n" }.joined())
    #expect(queue.read.count == 1_000)
  }

  @Test func `what cannot be written does not count as read`() throws {
    let queue = ListeningQueue()
    queue.add(result: "a\n")
    let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    #expect(throws: ResultStreamError.output(SystemError(call: "write", number: ENOSPC))) {
      var options = ResultStream.Options()
      options.onlyUnread = true
      _ = try ResultStream(queue, options, descriptor: full).run()
    }
    #expect(queue.read.isEmpty)
  }

  @Test func `a follower waits for each payload in its turn until it is stopped`() throws {
    let pipe = Pipe()
    let stream = Mutex<ResultStream?>(nil)
    let queue = Mutex<ListeningQueue?>(nil)
    let listening = ListeningQueue { number in
      switch number {
      case 2: queue.withLock { $0?.decide(2, "late") }
      case 3: queue.withLock { $0?.add(result: "after\n") }
      case 5: stream.withLock { $0?.stop() }
      default: break
      }
    }
    queue.withLock { $0 = listening }
    for line in ["a\n", nil, "c\n"] { listening.add(result: line) }
    var options = ResultStream.Options()
    options.follows = true
    let following = try ResultStream(listening, options, descriptor: pipe.fileHandleForWriting.fileDescriptor)
    stream.withLock { $0 = following }
    #expect(try following.run() == 4)
    try pipe.fileHandleForWriting.close()
    #expect(String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "a\nlate\nc\nafter\n")
  }

  @Test func `a follower ends when nobody reads what it writes any more, though there is nothing to write`() throws {
    let pipe = Pipe()
    let listening = ListeningQueue { number in
      if number == 2 { try? pipe.fileHandleForReading.close() }
    }
    for line in ["a\n", nil] { listening.add(result: line) }
    var options = ResultStream.Options()
    (options.follows, options.onlyUnread) = (true, true)
    let following = try ResultStream(listening, options, descriptor: pipe.fileHandleForWriting.fileDescriptor)
    #expect(throws: ResultStreamError.output(SystemError(call: "write", number: EPIPE))) { _ = try following.run() }
    #expect(listening.read == [1])
  }

  @Test func `holds that a queue sets free are removed, and nothing else that it names`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "attache-holds-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let queue = ListeningQueue()
    for (number, name) in ["\(folder)/.held/q/one", "\(folder)/.held/q/two", "\(folder)/kept", "\(folder)/.held/q/../kept", "kept"]
      .enumerated()
    {
      let parent = (name as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(atPath: parent.isEmpty ? folder : parent, withIntermediateDirectories: true)
      if !name.contains("..") && name.hasPrefix("/") { try Data("x".utf8).write(to: URL(filePath: name)) }
      queue.add(result: "\(number)\n", hold: name)
    }
    _ = try written(queue) { $0.onlyUnread = true }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/.held/q").isEmpty)
    #expect(FileManager.default.fileExists(atPath: folder + "/kept"))
  }
}
