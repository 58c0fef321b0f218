@testable import Attache
@testable import AttacheQueue
import Foundation
import Glibc
import Synchronization
import Testing

@Suite struct BatchTests {
  /// Runs a batch of lines over a queue, into a file.
  private final class Rig: Sendable {
    let worker: WorkerRig
    let input: String
    let output: String
    private let served = Mutex<[String]>([])

    init(_ backend: QueueBackend, _ lines: String) throws {
      worker = try WorkerRig(backend)
      input = worker.queue.folder + "/input"
      output = worker.queue.folder + "/output"
      try Data(lines.utf8).write(to: URL(fileURLWithPath: input))
    }

    /// How often each payload was processed, in all runs.
    var servings: [String: Int] { served.withLock { $0.reduce(into: [:]) { $0[$1, default: 0] += 1 } } }

    var written: String { String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: output))) ?? Data(), as: UTF8.self) }

    /// Runs a batch over its own handle.
    ///
    /// - Parameter stopAfter: the number of processed payloads after which the batch is stopped.
    func run(stopAfter: Int = .max) throws -> Batch.Result {
      let opened = try worker.queue.open()
      defer { opened.close() }
      let observer = try BatchObserver()
      let stop = Mutex<Batch?>(nil)
      let count = Mutex(0)
      var configuration = WorkerConfiguration(queue: worker.queue.location)
      configuration.filter.jobs = 4
      let host = ServiceExtensionHost(clock: worker.clock, grace: .milliseconds(50)) { [self] in
        ServingExtension { request, answer in
          self.served.withLock { $0.append(request.identifier) }
          let isOver = count.withLock { count in
            count += 1
            return count >= stopAfter
          }
          if isOver { stop.withLock { $0?.stop() } }
          answer.offer(.original(.typeUnknown))
        }
      }
      let worker = try QueueWorker(
        configuration, queue: opened, host: host, store: worker.store, clock: worker.clock, queueClock: worker.queue.clock,
        observer: observer)
      let batch = try Batch(opened, worker: worker, observer: observer, payloadPath: nil)
      stop.withLock { $0 = batch }
      defer { stop.withLock { $0 = nil } }
      let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
      _ = FileManager.default.createFile(atPath: output, contents: nil)
      let target = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
      return try batch.run(input: source.fileDescriptor, output: target.fileDescriptor, report: nil)
    }
  }

  private static let lines = (1...50).map(WorkerLine.candidate).joined(separator: "\n")

  /// A system that refuses to start the thread with a given name.
  private struct Short: Machine {
    let missing: String
    private let system = SystemMachine()

    init(of missing: String) { self.missing = missing }

    var now: MonotonicInstant { system.now }
    var processors: Int { system.processors }
    var randomFraction: Double { system.randomFraction }

    func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread {
      guard name != missing else { throw SystemError(call: "pthread_create", number: 11) }
      return try system.start(name, urgency, body)
    }

    func makeWakeSignal() throws(SystemError) -> any WakeSignal { try system.makeWakeSignal() }
    func makeInputGate() throws(SystemError) -> any InputGate { try system.makeInputGate() }
    func makePoller() throws(SystemError) -> any Poller { try system.makePoller() }
    func makeStreams() throws(SystemError) -> (any ByteStream, any ByteStream) { try system.makeStreams() }
  }

  @Test func `a batch that gets no thread for its output has no other at work when it ends`() throws {
    let rig = try WorkerRig(.sqlite)
    let opened = try rig.queue.open()
    let observer = try BatchObserver()
    let worker = try rig.worker(on: opened) { _, answer in answer.offer(.original(.typeUnknown)) }
    let batch = try Batch(opened, worker: worker, observer: observer, payloadPath: nil, machine: Short(of: "results"))
    // The pipe has no data and no end: the thread that reads it ends only because it is stopped.
    let ends = try PipeEnds()
    defer { for end in [ends.read, ends.write] { close(end) } }
    #expect(throws: BatchFailure.system(SystemError(call: "pthread_create", number: 11))) {
      _ = try batch.run(input: ends.read, output: 1, report: nil)
    }
    opened.close()
  }

  @Test(arguments: QueueBackend.allCases)
  func `a batch gives each line its place, and the last one no ending that it had not`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines)
    let result = try rig.run()
    #expect(result.isComplete)
    #expect(result.summary.lines(.fallback, .typeUnknown) == 50)
    #expect(rig.written == Self.lines)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a batch that was stopped goes on where it was, and serves no payload twice`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines)
    var runs = 0
    while try !rig.run(stopAfter: 12).isComplete { runs += 1 }
    #expect(runs > 0)
    #expect(rig.written == Self.lines)
    #expect(rig.servings.count == 50)
    #expect(rig.servings.values.allSatisfy { $0 == 1 })
  }

  @Test(arguments: QueueBackend.allCases)
  func `a batch that is complete writes the same again without serving anything`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines)
    _ = try rig.run()
    #expect(try rig.run().isComplete)
    #expect(rig.written == Self.lines)
    #expect(rig.servings.values.allSatisfy { $0 == 1 })
  }

  @Test(arguments: QueueBackend.allCases)
  func `a line that was changed is refused by its number, and the file as it was goes on`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines)
    _ = try rig.run(stopAfter: 12)
    let changed = Self.lines.replacingOccurrences(of: #""alert":"7""#, with: #""alert":"8""#)
    try Data(changed.utf8).write(to: URL(fileURLWithPath: rig.input))
    #expect(throws: BatchFailure.changed(line: 7)) { try rig.run() }
    #expect(rig.written == "")
    try Data(Self.lines.utf8).write(to: URL(fileURLWithPath: rig.input))
    #expect(try rig.run().isComplete)
    #expect(rig.written == Self.lines)
    #expect(rig.servings.values.allSatisfy { $0 == 1 })
  }

  @Test(arguments: QueueBackend.allCases)
  func `a file that is shorter now is refused`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines + "\n")
    // All lines are added before the first is processed, so the last one has its line ending too.
    _ = try rig.run(stopAfter: 12)
    try Data(WorkerLine.candidate(1).utf8 + [UInt8(ascii: "\n")]).write(to: URL(fileURLWithPath: rig.input))
    #expect(throws: BatchFailure.otherPayloads(inQueue: 50, lines: 1)) { try rig.run() }
    #expect(rig.written == "")
  }

  @Test(arguments: QueueBackend.allCases)
  func `a file that is longer now goes on`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, Self.lines + "\n")
    _ = try rig.run(stopAfter: 12)
    let longer = (1...60).map { WorkerLine.candidate($0) + "\n" }.joined()
    try Data(longer.utf8).write(to: URL(fileURLWithPath: rig.input))
    #expect(try rig.run().isComplete)
    #expect(rig.written == longer)
    #expect(rig.servings.values.allSatisfy { $0 == 1 })
  }

  @Test(arguments: QueueBackend.allCases)
  func `an empty file is an empty batch`(_ backend: QueueBackend) throws {
    let rig = try Rig(backend, "")
    let result = try rig.run()
    #expect(result.isComplete)
    #expect(result.summary.lines == 0)
    #expect(rig.written == "")
  }

  @Test(arguments: QueueBackend.allCases)
  func `lines that are alike, blank ones too, are payloads of their own`(_ backend: QueueBackend) throws {
    let text = "\n{}\n{}\n\r\n\n{}\n"
    let rig = try Rig(backend, text)
    #expect(try rig.run().isComplete)
    #expect(rig.written == text)
  }
}
