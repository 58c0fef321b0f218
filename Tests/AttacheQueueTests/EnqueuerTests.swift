@testable import Attache
@testable import AttacheQueue
import Foundation
import Testing

/// Turning input lines into payloads of a queue.
@Suite(.timeLimit(.minutes(1)))
struct EnqueuerTests {
  private let queue = ListeningQueue()

  private func enqueue(
    _ input: String, into queue: ListeningQueue? = nil, change: (inout EnqueueOptions) throws -> Void = { _ in }
  ) throws -> (ending: Enqueuer.Ending, counts: Enqueuer.Counts) {
    var options = EnqueueOptions()
    try change(&options)
    let enqueuer = Enqueuer(queue ?? self.queue, options)
    let pipe = Pipe()
    let writer = Thread {
      pipe.fileHandleForWriting.write(Data(input.utf8)); try? pipe.fileHandleForWriting.close()
    }
    writer.start()
    let ending = try enqueuer.run(pipe.fileHandleForReading.fileDescriptor, stop: ReadingStop())
    return (ending, enqueuer.counts)
  }

  @Test func `each line is a payload with its ending, blank ones and a last one without an ending too`() throws {
    let (ending, counts) = try enqueue("{}\n\nno json\r\n{\"a\":1}")
    #expect(ending == .end)
    #expect(queue.lines == ["{}\n", "\n", "no json\r\n", "{\"a\":1}"])
    #expect(counts.enqueued == 4)
    #expect(counts.bytes == 20)
    #expect(queue.payloads.allSatisfy { $0.priority == 10 && $0.notBefore == nil && $0.expiresAt == nil && $0.key == nil })
  }

  @Test func `what the options say holds for every line that says nothing else`() throws {
    _ = try enqueue("{}\n") { options in
      options.priority = 5
      options.notBefore = .seconds(100)
      options.expiresAt = .seconds(200)
    }
    #expect(queue.payloads[0].priority == 5)
    #expect(queue.payloads[0].notBefore == .seconds(100))
    #expect(queue.payloads[0].expiresAt == .seconds(200))
  }

  @Test(arguments: [
    (#""apns-priority":"5","apns-expiration":"1800000000""#, 5, Duration.seconds(1_800_000_000) as Duration?),
    (#""apns-priority":"1""#, 1, .seconds(7)), (#""apns-expiration":"0""#, 3, .seconds(7)), (#""apns-expiration":"-5""#, 3, .seconds(7)),
    (#""apns-priority":"99","apns-expiration":"9223372036854775807""#, 10, nil),
    (#""apns-priority":"-9223372036854775808""#, 1, .seconds(7)),
    (#""apns-priority":"soon""#, 3, .seconds(7)),
  ])
  func `what an envelope says goes before the options`(headers: String, priority: Int, expiresAt: Duration?) throws {
    let line = #"{"message":{"apns":{"headers":{\#(headers)},"payload":{"aps":{"alert":"Hello"}}}}}"#
    _ = try enqueue(line + "\n") { options in
      options.priority = 3
      options.expiresAt = .seconds(7)
    }
    #expect(queue.payloads[0].priority == priority)
    #expect(queue.payloads[0].expiresAt == expiresAt)
  }

  @Test func `by its bytes a line is the same whatever its ending`() throws {
    let (_, counts) = try enqueue("{}\n{}\r\n{} \n{}") { $0.key = .bytes }
    #expect(queue.lines == ["{}\n", "{} \n"])
    #expect(counts.enqueued == 4)
    #expect(counts.repeated == 2)
    #expect(queue.payloads[0].key?.count == 32)
  }

  @Test func `by a place a line is the same as another that says the same there`() throws {
    let lines = [
      #"{"id":"a","n":1}"#, #"{"n":2,"id":"a"}"#, #"{"id":7}"#, #"{"id":7}"#, #"{"id":true}"#, #"{"id":null}"#, #"{"id":null}"#,
      #"{"id":""}"#, #"{"id":""}"#, #"{"id":{}}"#, #"{"id":{}}"#, "no json", "no json", "{}", "{}", "\u{FEFF}{\"id\":7 }",
    ]
    let (_, counts) = try enqueue(lines.map { $0 + "\n" }.joined()) { $0.key = .place(try JSONPointer(path: "id")) }
    #expect(counts.repeated == 3)
    #expect(counts.enqueued == lines.count)
    #expect(queue.payloads.compactMap(\.key) == [Array("a".utf8), [0xFF] + "7".utf8, [0xFF] + "true".utf8])
  }

  @Test func `two numbers that a double cannot tell apart are two`() throws {
    let lines = ["18446744073709551615", "18446744073709551614", "9007199254740993.0", "9007199254740992.0"]
    let (_, counts) = try enqueue(lines.map { #"{"x":[{}, {"a":1,"id":\#($0)}]}"# + "\n" }.joined()) {
      $0.key = .place(try JSONPointer(path: "x.1.id"))
    }
    #expect(counts.repeated == 0)
    #expect(queue.payloads.compactMap(\.key) == lines.map { [0xFF] + $0.utf8 })
  }

  @Test func `a long value is known by its hash`() throws {
    let long = String(repeating: "x", count: 65)
    let (_, counts) = try enqueue("{\"id\":\"\(long)\"}\n{\"id\":\"\(long)\"}\n{\"id\":\"\(long)y\"}\n") {
      $0.key = .place(try JSONPointer(path: "/id"))
    }
    #expect(counts.repeated == 1)
    #expect(queue.payloads.allSatisfy { $0.key?.count == 32 })
  }

  @Test func `a key of the caller's is asked for with the line's number`() throws {
    _ = try enqueue("a\nb\n") { $0.key = .own { line, number in [UInt8(number)] + line } }
    #expect(queue.payloads.map(\.key) == [[1, 97, 10], [2, 98, 10]])
  }

  @Test func `a batch is bounded by its payloads and by its bytes`() throws {
    _ = try enqueue(String(repeating: "{}\n", count: 10_000))
    #expect(queue.batches.map(\.count).max() ?? 0 <= 4_096)
    #expect(queue.payloads.count == 10_000)
    let large = ListeningQueue()
    _ = try enqueue(String(repeating: String(repeating: "x", count: 1 << 20) + "\n", count: 12), into: large)
    #expect(large.batches.allSatisfy { $0.count <= 4 })
    #expect(large.payloads.count == 12)
  }

  @Test(arguments: [true, false])
  func `what was read is in the queue while the input pauses, and after a stop the beginning of a line where that is wanted`(
    keepsUnfinished: Bool
  ) async throws {
    let pipe = Pipe()
    let (batches, arrival) = AsyncStream.makeStream(of: Int.self)
    let queue = queue
    let stop = try ReadingStop()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    let running = Task.detached {
      var options = EnqueueOptions()
      options.keepsUnfinished = keepsUnfinished
      var events = Enqueuer.Events()
      events.afterBatch = { arrival.yield($0.enqueued) }
      let enqueuer = Enqueuer(queue, options, events)
      let ending = try enqueuer.run(descriptor, stop: stop)
      return (ending, enqueuer.counts)
    }
    pipe.fileHandleForWriting.write(Data("{}\n{\"a\"".utf8))
    var arrivals = batches.makeAsyncIterator()
    #expect(await arrivals.next() == 1)
    stop.request(finishingLineBy: SystemMachine().now)
    let (ending, counts) = try await running.value
    #expect(ending == .stopped)
    #expect(counts.enqueued == (keepsUnfinished ? 2 : 1))
    #expect(counts.unfinished == (keepsUnfinished ? 2 : nil))
    #expect(queue.lines == (keepsUnfinished ? ["{}\n", "{\"a\""] : ["{}\n"]))
    try pipe.fileHandleForReading.close()
  }

  @Test func `a line that is too long is left out and named, and the others are taken`() throws {
    let long = String(repeating: "x", count: NewPayload.maximumLine + 1)
    let (ending, counts) = try enqueue("a\n\(long)\nb\n")
    #expect(ending == .end)
    #expect(queue.lines == ["a\n", "b\n"])
    #expect(counts.overlong == 1)
    #expect(counts.firstOverlong == 2)
    #expect(counts.lastLine == 3)
    let stopped = ListeningQueue()
    #expect(try enqueue("a\n\(long)\nb\n", into: stopped) { $0.stopsAtOverlong = true }.ending == .overlong)
    #expect(stopped.lines == ["a\n"])
  }

  @Test func `a queue that is full has what was counted`() throws {
    let queue = ListeningQueue(room: 8_000)
    let enqueuer = Enqueuer(queue, EnqueueOptions())
    let file = FileManager.default.temporaryDirectory.appending(path: "attache-\(UUID().uuidString)")
    try Data(String(repeating: "{}\n", count: 10_000).utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let input = try FileHandle(forReadingFrom: file)
    #expect(throws: EnqueueError.queue(.full("/queue"))) { _ = try enqueuer.run(input.fileDescriptor, stop: ReadingStop()) }
    #expect(enqueuer.counts.enqueued == queue.payloads.count)
    #expect(enqueuer.counts.enqueued == 4_096)
  }

  @Test func `a batch of which the queue did not say whether it added it is counted apart`() throws {
    let queue = HookedQueue(queue)
    queue.before(.enqueue) { () throws(QueueError) in throw .unknown("db1") }
    let enqueuer = Enqueuer(queue, EnqueueOptions())
    let input = Pipe()
    input.fileHandleForWriting.write(Data("a\nb\n".utf8))
    #expect(throws: EnqueueError.queue(.unknown("db1"))) {
      _ = try enqueuer.run(input.fileHandleForReading.fileDescriptor, stop: ReadingStop())
    }
    #expect(enqueuer.counts.enqueued == 0)
    #expect(enqueuer.counts.lastLineInDoubt == 2)
  }

  @Test func `while a batch is added, the next lines are read`() throws {
    let (input, secondLine) = (Pipe(), DispatchSemaphore(value: 0))
    let queue = HookedQueue(queue)
    queue.before(.enqueue) { () throws(QueueError) in
      // The first batch stays here until the second line is read.
      queue.before(.enqueue) { () throws(QueueError) in }
      input.fileHandleForWriting.write(Data("b\n".utf8))
      #expect(secondLine.wait(timeout: .now() + 30) == .success)
      try? input.fileHandleForWriting.close()
    }
    var options = EnqueueOptions()
    options.key = .own { _, number in
      if number == 2 { secondLine.signal() }
      return nil
    }
    input.fileHandleForWriting.write(Data("a\n".utf8))
    let enqueuer = Enqueuer(queue, options)
    #expect(try enqueuer.run(input.fileHandleForReading.fileDescriptor, stop: ReadingStop()) == .end)
    #expect(self.queue.lines == ["a\n", "b\n"])
  }

  @Test func `after a failure, the last line in the queue is known although lines were skipped`() throws {
    let input = Pipe()
    let queue = ListeningQueue(room: 1)
    var events = Enqueuer.Events()
    events.afterBatch = { _ in
      Thread.detachNewThread {
        let long = String(repeating: "x", count: NewPayload.maximumLine + 1)
        input.fileHandleForWriting.write(Data("\(long)\nb\n".utf8))
        try? input.fileHandleForWriting.close()
      }
    }
    input.fileHandleForWriting.write(Data("a\n".utf8))
    let enqueuer = Enqueuer(queue, EnqueueOptions(), events)
    #expect(throws: EnqueueError.queue(.full("/queue"))) {
      _ = try enqueuer.run(input.fileHandleForReading.fileDescriptor, stop: ReadingStop())
    }
    #expect(enqueuer.counts.lastLine == 1)
    #expect(enqueuer.counts.firstOverlong == 2)
  }

  @Test func `an input that cannot be read is told with its number`() throws {
    let folder = try FileHandle(forReadingFrom: URL(filePath: "/tmp"))
    let enqueuer = Enqueuer(queue, EnqueueOptions())
    #expect(throws: EnqueueError.input(SystemError(call: "read", number: EISDIR))) {
      _ = try enqueuer.run(folder.fileDescriptor, stop: ReadingStop())
    }
  }
}
