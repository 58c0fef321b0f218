@testable import Attache
@testable import AttacheQueue
import Foundation
import Synchronization
import Testing

/// A worker pauses if its machine fails: no payload falls back because of it, and none loses an
/// attempt.
@Suite(.timeLimit(.minutes(1))) struct QueueWorkerPauseTests {
  private static let pause = Duration.milliseconds(20)

  /// A result whose media could not be stored.
  private static func failed(_ error: StoreError) -> MediaRecord {
    var record = MediaRecord(url: "https://origin.test/", reason: error.reason, attempts: 1)
    (record.explanation, record.isOfMachine) = ("\(error)", error.isOfMachine)
    return record
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting needs root's capability"))
  func `a full store pauses its worker, which goes on by itself once there is room`() throws {
    let disk = try #require(QueueTestDisk())
    let rig = try WorkerRig(storeFolder: disk.path + "/store")
    let queue = HookedQueue(try rig.queue.open(with: (1...40).map(WorkerLine.candidate)))
    let picture = String(repeating: "x", count: 10_000)
    let notices = Mutex<[String]>([])
    disk.fill()
    let tries = Mutex(0)
    // The disk has space after two failed attempts.
    rig.observer.onPaused { if $0 != nil, tries.withLock({ tries in (tries += 1, tries).1 }) == 3 { disk.empty() } }
    let worker = try rig.worker(on: queue) {
      ($0.pause, $0.attempts) = (Self.pause, 1)
    } notify: { notice in
      notices.withLock { $0.append("\(notice)") }
    } serve: { request, answer in
      do throws(StoreError) {
        let file = try rig.store.beginFile()
        try file.append(Array((request.identifier + picture).utf8))
        var content = request.content
        let attachment = Attachment(
          identifier: "one", file: try file.finish(type: .jpeg), source: "https://origin.test/1.jpg", options: AttachmentOptions())
        content.attachments = [attachment]
        answer.offer(.content(content))
      } catch {
        answer.offer(.original(error.reason, media: [Self.failed(error)]))
      }
    }
    let result = try worker.run()
    #expect(result.summary.lines(.attached) == 40)
    #expect(result.summary.lines(.fallback) == 0)
    #expect(queue.attempts.allSatisfy { $0 == 1 })
    #expect(rig.observer.pauses.first??.contains("No space left on device") == true)
    #expect(rig.observer.pauses.last == .some(nil))
    #expect(notices.withLock { $0.count } == 2)
    #expect(notices.withLock { $0.first?.hasPrefix("paused: store.full: cannot ") } == true)
    #expect(notices.withLock { $0.last } == "the worker goes on")
  }

  @Test(.enabled(if: QueueTestDisk.isPermitted, "mounting needs root's capability"))
  func `a store that turns read-only before an attachment is held pauses its worker`() throws {
    let disk = try #require(QueueTestDisk())
    let rig = try WorkerRig(storeFolder: disk.path + "/store")
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let file = try rig.file("picture")
    disk.turnReadOnly()
    rig.observer.onPaused { if $0 != nil { disk.turnWritable() } }
    let result = try rig.worker(on: queue) {
      ($0.pause, $0.attempts) = (Self.pause, 1)
    } serve: { request, answer in
      var content = request.content
      rig.store.pin(file)
      content.attachments = [Attachment(identifier: "one", file: file, source: "https://origin.test/1.jpg", options: AttachmentOptions())]
      answer.offer(.content(content))
    }.run()
    #expect(result.summary.lines(.attached) == 1)
    #expect(queue.attempts == [1, 1])
    #expect(rig.observer.pauses.count == 2)
  }

  @Test(arguments: [EIO, EDQUOT, EMFILE, ENFILE, ENOMEM])
  func `a payload meets an error of the machine at no cost, and is tried again after the pause`(_ code: Int32) throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let tries = Mutex(0)
    let result = try rig.worker(on: queue) {
      ($0.pause, $0.attempts) = (Self.pause, 1)
    } serve: { _, answer in
      let isFirst = tries.withLock { tries in (tries += 1, tries).1 } == 1
      let failure = Self.failed(StoreError("create", "/store/tmp/1", code: code))
      answer.offer(isFirst ? .original(.storeFailed, media: [failure]) : .original(.typeUnknown))
    }.run()
    #expect(queue.attempts == [1, 1])
    #expect(rig.observer.finished == [.init(outcome: .fallback, reason: .typeUnknown)])
    #expect(result.postponed == 1)
  }

  @Test func `one file that vanished or has too many links pauses nobody`() {
    #expect(!StoreError(StoreError.holding, "/store/ab", code: ENOENT).isOfMachine)
    #expect(!StoreError("link", "/store/ab", code: EMLINK).isOfMachine)
    #expect(StoreError("link", "/store/ab", code: EPERM).isOfMachine)
    #expect(FetchFailure(DetectorFailure.noProcess(SystemError(call: "fork", number: EAGAIN))).isOfMachine)
    #expect(!FetchFailure(DetectorFailure.late).isOfMachine)
  }

  @Test(arguments: [(EMFILE, true), (ENFILE, true), (ENOBUFS, true), (ENOMEM, true), (ENETUNREACH, false), (EADDRNOTAVAIL, false)])
  func `the lack of a descriptor is the machine's, and an address that cannot be reached is not`(_ error: Int32, _ isOfMachine: Bool) {
    let end = TransferEnd(failure: .connectFailed, localError: error, times: TransferTimes(), retryAfter: nil)
    #expect(FetchFailure(.connectFailed, of: end, host: "cdn.example").isOfMachine == isOfMachine)
  }

  @Test func `a worker that is stopped while it is paused ends, and work is left`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let stopping = Mutex<QueueWorker?>(nil)
    rig.observer.onPaused { _ in Thread.detachNewThread { stopping.withLock { $0 }?.stop() } }
    let worker = try rig.worker(on: queue) {
      $0.pause = .seconds(3_600)
    } serve: { _, answer in
      answer.offer(.original(.storeFull, media: [Self.failed(StoreError("write", "/store/tmp/1", code: ENOSPC))]))
    }
    stopping.withLock { $0 = worker }
    let result = try worker.run()
    #expect(result.isWorkLeft)
    #expect(try queue.counts()[.ready] == 1)
    stopping.withLock { $0 = nil }
  }

  @Test(arguments: [HookedQueue.Call.claim, .finish, .giveBack])
  func `a queue without room pauses its worker, and each payload gets one result`(_ call: HookedQueue.Call) throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2), WorkerLine.plain]))
    let refusals = Mutex(0)
    queue.before(call) { () throws(QueueError) in
      guard refusals.withLock({ count in (count += 1, count).1 }) > 2 else { throw .full("/queue: no space is left; free space") }
    }
    rig.observer.onPostponed { rig.queue.clock.pass(RetrySchedule.longest) }
    let isFirst = Mutex(true)
    let result = try rig.worker(on: queue) {
      $0.pause = Self.pause
    } serve: { request, answer in
      // One payload is given back together with results.
      let fails = request.identifier == "2" && isFirst.withLock { isFirst in (isFirst, isFirst = false).0 }
      answer.offer(.original(fails ? .connectReset : .typeUnknown))
    }.run()
    #expect(rig.observer.finished.count == 3)
    #expect(result.refused == 0)
    #expect(!result.isWorkLeft)
    #expect(rig.observer.pauses.contains("/queue: no space is left; free space"))
    #expect(rig.observer.pauses.last == .some(nil))
  }

  @Test func `a payload that is decided while a sync is repeated is settled`() throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2)]))
    let isDecided = Atomic(false)
    queue.before(.sync) { () throws(QueueError) in
      guard isDecided.load(ordering: .acquiring) else { throw .full("/queue: no space is left; free space") }
    }
    let waiting = Mutex<ExtensionReply?>(nil)
    rig.observer.onPaused { _ in
      Thread.detachNewThread {
        guard let answer = waiting.withLock({ $0.take() }) else { return }
        answer.offer(.original(.typeUnknown))
        isDecided.store(true, ordering: .releasing)
      }
    }
    let result = try rig.worker(on: queue) {
      $0.pause = Self.pause
    } serve: { request, answer in
      // The other payload is decided while the sync fails.
      if request.identifier == "1" { answer.offer(.original(.typeUnknown)) } else { waiting.withLock { $0 = answer } }
    }.run()
    #expect(result.summary.lines(.fallback) == 2)
  }

  @Test(arguments: [HookedQueue.Call.claim, .finish], [EROFS, EIO, EDQUOT, EMFILE])
  func `a queue whose disk fails or turns read-only pauses its worker`(_ call: HookedQueue.Call, _ number: Int32) throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let isFirst = Mutex(true)
    queue.before(call) { () throws(QueueError) in
      guard !isFirst.withLock({ isFirst in (isFirst, isFirst = false).0 }) else { throw SystemFailure(number, at: "/queue").error }
    }
    let result = try rig.worker(on: queue) {
      $0.pause = Self.pause
    } serve: { _, answer in
      answer.offer(.original(.typeUnknown))
    }.run()
    #expect(rig.observer.finished.count == 1)
    #expect(!result.isWorkLeft)
    #expect(rig.observer.pauses.first??.hasPrefix("/queue: ") == true)
    #expect(rig.observer.pauses.last == .some(nil))
  }

  @Test func `a worker goes on after a pause that leaves it nothing to claim`() throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: []))
    let isFirst = Mutex(true)
    queue.before(.claim) { () throws(QueueError) in
      guard !isFirst.withLock({ isFirst in (isFirst, isFirst = false).0 }) else { throw .full("/queue: no space is left; free space") }
    }
    let notices = Mutex<[String]>([])
    _ = try rig.worker(on: queue) {
      $0.pause = Self.pause
    } notify: { notice in
      notices.withLock { $0.append("\(notice)") }
    } serve: { _, _ in
    }.run()
    #expect(rig.observer.pauses == ["/queue: no space is left; free space", nil])
    #expect(notices.withLock { $0.last } == "the worker goes on")
  }

  @Test func `a worker that is stopped while its full queue takes no result leaves the payload to the next one`() throws {
    let rig = try WorkerRig()
    let opened = try rig.queue.open(with: [WorkerLine.candidate(1)])
    let queue = HookedQueue(opened)
    queue.before(.finish) { () throws(QueueError) in throw .full("/queue: no space is left; free space") }
    let stopping = Mutex<QueueWorker?>(nil)
    rig.observer.onPaused { _ in Thread.detachNewThread { stopping.withLock { $0 }?.stop() } }
    let notices = Mutex<[String]>([])
    let worker = try rig.worker(on: queue) {
      ($0.pause, $0.isOnce) = (.seconds(3_600), false)
    } notify: { notice in
      notices.withLock { $0.append("\(notice)") }
    } serve: { _, answer in
      answer.offer(.original(.typeUnknown))
    }
    stopping.withLock { $0 = worker }
    let result = try worker.run()
    #expect(result.isWorkLeft)
    #expect(rig.observer.finished.isEmpty)
    #expect(try opened.counts().undecided == 1)
    #expect(notices.withLock { $0.contains { $0.hasPrefix("payloads are left without a result: /queue: no space is left") } })
    stopping.withLock { $0 = nil }
  }

  // MARK: What a worker tells

  @Test(arguments: [
    (true, "requeue the payloads that fell back: attache retry --queue 'sqlite:/var/my queue' --reason policy.scheme"),
    (false, "run the batch again with the flag that allows it, and a new output"),
  ])
  func `a refusal by a flag says how what fell back is worked again, and pauses nobody`(keepsQueue: Bool, advice: String) throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2)])
    let notices = Mutex<[String]>([])
    var refused = MediaRecord(url: "http://origin.test/1.jpg", reason: .policyScheme)
    refused.explanation = "plain http is refused; --allow-http allows it"
    _ = try rig.worker(on: queue) {
      ($0.queue, $0.keepsQueue) = (.sqlite(path: "/var/my queue"), keepsQueue)
    } notify: { notice in
      notices.withLock { $0.append("\(notice)") }
    } serve: { [refused] request, answer in
      answer.offer(request.identifier == "1" ? .original(.policyScheme, media: [refused]) : .original(.typeUnknown))
    }.run()
    let reported = notices.withLock { $0 }
    #expect(reported.contains { $0.hasSuffix(advice) && $0.contains("--allow-http") })
    #expect(reported.contains { $0.contains("type.unknown") && !$0.contains("retry") && !$0.contains("again") })
    #expect(rig.observer.pauses == [])
  }

  @Test(arguments: [
    ("sqlite:push.db", "sqlite:push.db"), ("sqlite:a b", "'sqlite:a b'"), ("sqlite:it's", #"'sqlite:it'\''s'"#),
    ("sqlite:$(x)", "'sqlite:$(x)'"),
  ])
  func `a queue's name is written as a shell takes it`(_ name: String, _ word: String) {
    #expect(WorkerNotice.quoted(name) == word)
  }
}
