@testable import Attache
@testable import AttacheQueue
import Synchronization
import Testing

@Suite struct QueueWorkerRunTests {
  private static let transient = MediaRecord(url: "https://origin.test/", reason: .httpStatus, status: 503, attempts: 1)
  private static let lasting = MediaRecord(url: "https://origin.test/", reason: .httpStatus, status: 404, attempts: 1)

  @Test(arguments: QueueBackend.allCases)
  func `each payload gets one result: enriched, or the original byte for byte`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.plain, "no json", WorkerLine.candidate(4)])
    let file = try rig.file("picture")
    let result = try rig.worker(on: queue) { request, answer in
      guard request.identifier == "1" else { return _ = answer.offer(.original(.typeUnknown)) }
      var content = request.content
      rig.store.pin(file)
      content.attachments = [Attachment(identifier: "one", file: file, source: "https://origin.test/1.jpg", options: AttachmentOptions())]
      answer.offer(.content(content))
    }.run()
    let lines = try queue.lines()
    #expect(lines.count == 4)
    #expect(lines[0].hasPrefix(WorkerLine.candidate(1).dropLast() + #","attache":{"attachments":[{"identifier":"one""#))
    #expect(Array(lines[1...]) == [WorkerLine.plain, "no json", WorkerLine.candidate(4)].map { $0 + "\n" })
    #expect(result.summary.lines(.attached) == 1)
    #expect(result.summary.lines(.fallback, .typeUnknown) == 1)
    #expect(result.summary.lines(.passthrough) == 1)
    #expect(result.summary.lines(.invalid) == 1)
    #expect(!result.isWorkLeft)
  }

  @Test(arguments: QueueBackend.holding)
  func `an attachment is held in the store until its result is read`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2)])
    let file = try rig.file("picture")
    _ = try rig.worker(on: queue) { request, answer in
      var content = request.content
      rig.store.pin(file)
      content.attachments = [Attachment(identifier: "one", file: file, source: "https://origin.test/1.jpg", options: AttachmentOptions())]
      answer.offer(.content(content))
    }.run()
    #expect(try queue.markRead([1]) == [])
    #expect(try queue.markRead([2]).map { $0.hasSuffix(file.sha256 + ".jpg") } == [true])
  }

  @Test(arguments: QueueBackend.allCases)
  func `what may pass is tried again later, and the last try gives the original`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    rig.observer.onPostponed { rig.queue.clock.pass(RetrySchedule.longest) }
    let tries = Mutex(0)
    let result = try rig.worker(on: queue) { _, answer in
      tries.withLock { $0 += 1 }
      answer.offer(.original(.httpStatus, media: [Self.transient]))
    }.run()
    #expect(tries.withLock { $0 } == 3)
    #expect(result.postponed == 2)
    #expect(rig.observer.finished == [.init(outcome: .fallback, reason: .httpStatus)])
    #expect(try queue.lines() == [WorkerLine.candidate(1) + "\n"])
  }

  @Test func `what will not pass is tried once`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let result = try rig.worker(on: queue) { _, answer in answer.offer(.original(.httpStatus, media: [Self.lasting])) }.run()
    #expect(result.postponed == 0)
    #expect(result.summary.lines(.fallback, .httpStatus) == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `an expired payload gets its original, and nobody is asked for its media`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open()
    let expired = rig.queue.clock.wall - .seconds(1)
    _ = try queue.enqueue([
      NewPayload(WorkerLine.candidate(1)) { $0.expiresAt = expired }, NewPayload(WorkerLine.plain) { $0.expiresAt = expired },
    ])
    let result = try rig.worker(on: queue) { _, _ in Issue.record("an extension ran") }.run()
    #expect(result.summary.lines(.fallback, .queueExpired) == 1)
    #expect(result.summary.lateLines == 0)
    #expect(result.summary.lines(.passthrough) == 1)
    #expect(try queue.lines() == [WorkerLine.candidate(1) + "\n", WorkerLine.plain + "\n"])
  }

  @Test func `a try is not put off beyond the expiry`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open()
    let wall = rig.queue.clock.wall
    _ = try queue.enqueue([NewPayload(WorkerLine.candidate(1)) { $0.expiresAt = wall + .seconds(60) }])
    rig.observer.onPostponed { Issue.record("it was postponed") }
    let result = try rig.worker(on: queue) { _, answer in
      rig.queue.clock.setWall(by: .seconds(61))
      answer.offer(.original(.httpStatus, media: [Self.transient]))
    }.run()
    #expect(result.summary.lines(.fallback, .httpStatus) == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a line that is longer than the engine reads leaves as it came`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let long = "{\"aps\":\"" + String(repeating: "x", count: 2 << 20) + "\"}"
    let queue = try rig.queue.open(with: [long])
    let result = try rig.worker(on: queue) { _, _ in Issue.record("an extension ran") }.run()
    #expect(result.summary.lines(.passthrough, .payloadSize) == 1)
    #expect(try queue.lines() == [long + "\n"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `two workers of one queue give each payload one result`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let lines = (1...200).map(WorkerLine.candidate)
    let first = try rig.queue.open(with: lines)
    let second = try rig.queue.open()
    let other = try rig.worker(on: second, { $0.filter.jobs = 8 }, serve: { _, answer in answer.offer(.original(.typeUnknown)) })
    let thread = try Thread.start("other") { #expect(throws: Never.self) { try other.run() } }
    _ = try rig.worker(on: first, { $0.filter.jobs = 8 }, serve: { _, answer in answer.offer(.original(.typeUnknown)) }).run()
    thread.join()
    #expect(rig.observer.finished.count == lines.count)
    #expect(rig.observer.refusals == 0)
    #expect(try first.lines() == lines.map { $0 + "\n" })
  }

  @Test(arguments: QueueBackend.allCases)
  func `the result of a payload that was taken over is refused`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let taker = try rig.queue.open()
    let result = try rig.worker(on: queue) { _, answer in
      // The lease expires, and another worker gives the result.
      rig.queue.clock.pass(.seconds(3_600))
      #expect(throws: Never.self) {
        let lease = try taker.leaseOne()
        #expect(try taker.finish([lease.finished(.attached, output: "theirs\n")]) == [])
      }
      answer.offer(.original(.typeUnknown))
    }.run()
    #expect(result.refused == 1)
    #expect(rig.observer.finished == [])
    #expect(try queue.lines() == ["theirs\n"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `told to stop, a worker finishes what is in flight and leaves the rest`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: (1...3).map(WorkerLine.candidate))
    let stop = Mutex<QueueWorker?>(nil)
    let worker = try rig.worker(on: queue, { $0.filter.jobs = 1 }) { _, answer in
      stop.withLock { $0?.stop() }
      answer.offer(.original(.typeUnknown))
    }
    stop.withLock { $0 = worker }
    let result = try worker.run()
    stop.withLock { $0 = nil }
    #expect(result.isWorkLeft)
    #expect(result.summary.lines == 1)
    #expect(try queue.counts()[.ready] == 2)
  }

  @Test(arguments: QueueBackend.allCases)
  func `told to cancel, a worker gives back what is in flight as if it had not been tried`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let cancel = Mutex<QueueWorker?>(nil)
    let worker = try rig.worker(on: queue) { _, _ in cancel.withLock { $0?.cancel() } }
    cancel.withLock { $0 = worker }
    let result = try worker.run()
    cancel.withLock { $0 = nil }
    #expect(result.isWorkLeft)
    #expect(rig.observer.finished == [])
    #expect(try queue.leaseOne().attempt == 1)
  }

  // MARK: Payloads that end their workers

  /// Lets workers claim payloads and die.
  private func die(_ times: Int, in rig: WorkerRig, alone: Bool) throws {
    for _ in 0..<times {
      let worker = try rig.queue.open()
      #expect(try worker.claim(ClaimRequest(limit: 10, span: .seconds(60), isAlone: alone)).leases.count == 1)
    }
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload that ended its worker three times while alone is dead, and nobody looks into it again`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    try die(2, in: rig, alone: false)
    try die(3, in: rig, alone: true)
    let result = try rig.worker(on: queue) { _, _ in Issue.record("an extension ran") }.run()
    #expect(result.summary.lines(.fallback, .queuePoison) == 1)
    #expect(try queue.counts()[.dead] == 1)
    #expect(try queue.lines() == [WorkerLine.candidate(1) + "\n"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a suspect runs alone, after all the others, and has its result like any`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    try die(2, in: rig, alone: false)
    _ = try queue.enqueue((2...5).map { NewPayload(WorkerLine.candidate($0)) })
    let served = Mutex<[String]>([])
    let result = try rig.worker(on: queue) { request, answer in
      served.withLock { $0.append(request.identifier) }
      answer.offer(.original(.typeUnknown))
    }.run()
    #expect(served.withLock { $0 } == ["2", "3", "4", "5", "1"])
    #expect(result.summary.lines(.fallback, .typeUnknown) == 5)
    #expect(try queue.counts()[.dead] == 0)
  }
}
