@testable import Attache
@testable import AttacheQueue
import Foundation
import Synchronization
import Testing

/// A worker keeps its leases while it lives.
@Suite(.timeLimit(.minutes(1))) struct QueueWorkerLeaseTests {
  @Test func `a payload that takes long to read costs its worker no lease`() throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2)]))
    let (isReading, isRead, isRenewed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    queue.before(.renew) { isRenewed.signal() }
    let worker = try rig.worker(on: queue) { request, answer in
      // The thread that claims is the one that reads payloads.
      if request.identifier == "1" {
        isReading.signal()
        isRead.wait()
      }
      answer.offer(.original(.typeUnknown))
    }
    let result = Mutex<WorkerResult?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      result.withLock { $0 = try? worker.run() }
      hasEnded.signal()
    }
    isReading.wait()
    let other = try rig.queue.open()
    for _ in 0..<5 {
      rig.queue.clock.pass(WorkerConfiguration(queue: .sqlite(path: "queue")).leaseSpan * 3 / 4)
      worker.renewer.wake()
      isRenewed.wait()
      #expect(try other.lease().isEmpty)
    }
    isRead.signal()
    hasEnded.wait()
    #expect(result.withLock { $0?.refused } == 0)
    #expect(rig.observer.finished.count == 2)
  }

  @Test func `a renewal that finds no room pauses the worker, and is tried again while the lease lasts`() throws {
    let rig = try WorkerRig()
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let (isServed, isTried) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let tries = Mutex(0)
    queue.before(.renew) { () throws(QueueError) in
      defer { isTried.signal() }
      guard tries.withLock({ tries in (tries += 1, tries).1 }) > 1 else { throw .full("/queue: no space is left") }
    }
    let waiting = Mutex<ExtensionReply?>(nil)
    let worker = try rig.worker(on: queue) {
      $0.pause = .milliseconds(20)
    } serve: { _, answer in
      waiting.withLock { $0 = answer }
      isServed.signal()
    }
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = try? worker.run()
      hasEnded.signal()
    }
    isServed.wait()
    rig.queue.clock.pass(WorkerConfiguration(queue: .sqlite(path: "queue")).leaseSpan * 5 / 8)
    for _ in 0..<2 {
      worker.renewer.wake()
      isTried.wait()
    }
    if let answer = waiting.withLock({ $0.take() }) { answer.offer(.original(.typeUnknown)) }
    hasEnded.wait()
    #expect(tries.withLock { $0 } == 2)
    #expect(rig.observer.finished.count == 1)
    #expect(rig.observer.pauses == ["/queue: no space is left", nil])
  }

  @Test func `after a machine was suspended its worker works each payload once`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: [WorkerLine.candidate(1), WorkerLine.candidate(2)])
    let served = Mutex<[String]>([])
    let waiting = Mutex<ExtensionReply?>(nil)
    let worker = try rig.worker(on: queue) {
      $0.filter.jobs = 2
    } serve: { request, answer in
      served.withLock { $0.append(request.identifier) }
      guard request.identifier == "1" else {
        // No thread of the worker has run meanwhile.
        rig.queue.clock.pass(.seconds(86_400))
        return _ = answer.offer(.original(.typeUnknown))
      }
      waiting.withLock { $0 = answer }
    }
    // The next claim follows when the second payload is settled.
    rig.observer.onFinished { if let answer = waiting.withLock({ $0.take() }) { answer.offer(.original(.typeUnknown)) } }
    let result = try worker.run()
    #expect(served.withLock { $0.sorted() } == ["1", "2"])
    #expect(result.refused == 0)
    #expect(rig.observer.finished.count == 2)
  }
}
