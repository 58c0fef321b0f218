@testable import Attache
@testable import AttacheQueue
import Synchronization
import Testing

/// A payload whose origin the circuit breaker leaves alone waits, and uses up no attempt.
@Suite(.timeLimit(.minutes(1))) struct QueueWorkerBreakerTests {
  private static let wait = Duration.seconds(7)

  private static func refused(after wait: Duration? = wait) -> MediaRecord {
    var record = MediaRecord(url: "https://origin.test/1.jpg", reason: .policyBreaker)
    (record.explanation, record.retryAfter) = ("https://origin.test:443 has failed for 12 s", wait)
    return record
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload waits until its origin is asked again, at no cost`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = HookedQueue(try rig.queue.open(with: [WorkerLine.candidate(1)]))
    let tries = Mutex(0)
    let waiting = Mutex<[Int]>([])
    let notices = Mutex<[String]>([])
    rig.observer.onPostponed {
      waiting.withLock { $0.append((try? queue.counts()[.waiting]) ?? 0) }
      rig.queue.clock.pass(Self.wait)
    }
    let result = try rig.worker(on: queue) {
      $0.attempts = 1
    } notify: { notice in
      notices.withLock { $0.append("\(notice)") }
    } serve: { _, answer in
      let isBack = tries.withLock { tries in (tries += 1, tries).1 } > 5
      answer.offer(isBack ? .original(.typeUnknown) : .original(.policyBreaker, media: [Self.refused()]))
    }.run()
    #expect(queue.attempts == Array(repeating: 1, count: 6))
    #expect(waiting.withLock { $0 } == Array(repeating: 1, count: 5))
    #expect(rig.observer.finished == [.init(outcome: .fallback, reason: .typeUnknown)])
    #expect(result.postponed == 5)
    #expect(notices.withLock { $0.count { $0.contains("https://origin.test:443 has failed for 12 s") } } == 1)
    #expect(try queue.counts()[.waiting] == 0)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload waits at the longest until it expires`(_ backend: QueueBackend) throws {
    let rig = try WorkerRig(backend)
    let queue = HookedQueue(try rig.queue.open())
    let wall = rig.queue.clock.wall
    _ = try queue.enqueue([NewPayload(WorkerLine.candidate(1)) { $0.expiresAt = wall + .seconds(10) }])
    rig.observer.onPostponed { rig.queue.clock.pass(Self.wait) }
    _ = try rig.worker(on: queue) {
      $0.attempts = 1
    } serve: { _, answer in
      answer.offer(.original(.policyBreaker, media: [Self.refused()]))
    }.run()
    #expect(rig.observer.finished == [.init(outcome: .fallback, reason: .queueExpired)])
    #expect(rig.observer.postponed == 2)
  }

  @Test func `others are claimed while a payload waits`() throws {
    let rig = try WorkerRig()
    let queue = try rig.queue.open(with: (1...20).map(WorkerLine.candidate))
    let order = Mutex<[String]>([])
    // The wait begins when the queue has the payload back, which may be after the others' results.
    let passWhenAllAreSettled: @Sendable () -> Void = {
      if rig.observer.finished.count == 19, rig.observer.postponed == 1 { rig.queue.clock.pass(Self.wait) }
    }
    rig.observer.onFinished(passWhenAllAreSettled)
    rig.observer.onPostponed(passWhenAllAreSettled)
    let isFirst = Mutex(true)
    let result = try rig.worker(on: queue) {
      ($0.attempts, $0.filter.jobs) = (1, 1)
    } serve: { request, answer in
      order.withLock { $0.append(request.identifier) }
      let isRefused = request.identifier == "1" && isFirst.withLock { isFirst in (isFirst, isFirst = false).0 }
      answer.offer(isRefused ? .original(.policyBreaker, media: [Self.refused()]) : .original(.typeUnknown))
    }.run()
    #expect(result.summary.lines(.fallback) == 20)
    #expect(order.withLock { $0 } == (1...20).map(String.init) + ["1"])
  }

  @Test func `only a payload for which nothing was asked waits`() {
    func payload(_ media: MediaRecord...) -> Decision {
      var payload = Decision(.fallback, .policyBreaker)
      payload.media = media
      return payload
    }
    let asked = MediaRecord(url: "https://other.test/", attempts: 1)
    let cached = MediaRecord(url: "https://other.test/", cache: .hit)
    #expect(payload(Self.refused()).breakerWait == Self.wait)
    #expect(payload(cached, Self.refused(), Self.refused(after: .seconds(9))).breakerWait == .seconds(9))
    #expect(payload(asked, Self.refused()).breakerWait == nil)
    #expect(payload(MediaRecord(url: "https://other.test/", reason: .dnsTimeout), Self.refused()).breakerWait == nil)
    #expect(payload(Self.refused(after: nil)).breakerWait == nil)
    #expect(payload().breakerWait == nil)
    var attached = payload(Self.refused())
    attached.outcome = .attached
    #expect(attached.breakerWait == nil)
  }
}
