@testable import Attache
@testable import AttacheQueue
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct DelivererTests {
  /// A sender that keeps its results until the test answers them.
  private final class KeepingSender: Sender {
    private let owner = Mutex<(any SenderOwner)?>(nil)
    private let given = Mutex<[LeaseToken]>([])

    func start(_ owner: any SenderOwner) { self.owner.withLock { $0 = owner } }
    func send(_ deliveries: [Delivery]) { given.withLock { $0 += deliveries.map(\.token) } }
    func drain() {}
    func cancel() {}
    func close() { owner.withLock { $0 = nil } }

    func answer() {
      let tokens = given.withLock { given in
        defer { given = [] }
        return given
      }
      owner.withLock(\.self)?.take(tokens.map { ($0, .delivered(status: nil)) })
    }
  }

  /// A sender that delivers each result at once.
  private final class AcceptingSender: Sender {
    private let owner = Mutex<(any SenderOwner)?>(nil)

    func start(_ owner: any SenderOwner) { self.owner.withLock { $0 = owner } }
    func send(_ deliveries: [Delivery]) { owner.withLock(\.self)?.take(deliveries.map { ($0.token, .delivered(status: nil)) }) }
    func drain() {}
    func cancel() {}
    func close() { owner.withLock { $0 = nil } }
  }

  private final class Observer: DelivererObserver {
    let pauses = Mutex<[String?]>([])

    func paused(_ why: String?) { pauses.withLock { $0.append(why) } }
    func ended(_ status: DeliveryStatus, _ count: Int) {}
    func answered(after elapsed: Duration) {}
    func retried(_ count: Int) {}
    func refused(_ count: Int) {}
    func unanswered(_ count: Int) {}
    func restarted() {}
    func blocked(since: MonotonicInstant?) {}
  }

  @Test func `a renewal that finds no room pauses the deliverer, and is tried again while the lease lasts`() throws {
    let test = try TestQueue(.sqlite)
    let opened = try test.open(with: ["a"])
    try opened.finishAll()
    let queue = HookedQueue(opened)
    let (sender, observer) = (KeepingSender(), Observer())
    let tries = Mutex(0)
    let notices = Mutex<[String]>([])
    queue.before(.renew) { () throws(QueueError) in
      guard tries.withLock({ tries in (tries += 1, tries).1 }) > 1 else {
        test.clock.pass(.seconds(1))
        throw .full("/queue: no space is left")
      }
      sender.answer()
    }
    queue.before(.settle) {
      // The lease is due for renewal at the next look.
      if tries.withLock({ $0 }) == 0 { test.clock.pass(.seconds(3)) }
    }
    var configuration = DelivererConfiguration()
    // The leases are looked at every 1.25 s.
    (configuration.answerTimeout, configuration.pause, configuration.isOnce) = (.zero, .milliseconds(20), true)
    let deliverer = try Deliverer(configuration, queue: queue, sender: sender, queueClock: test.clock, observer: observer) { notice in
      notices.withLock { $0.append(notice) }
    }
    let result = try deliverer.run()
    #expect(result.ended == [.delivered: 1])
    #expect(tries.withLock { $0 } == 2)
    #expect(observer.pauses.withLock { $0 } == ["/queue: no space is left", nil])
    #expect(notices.withLock { $0.first } == "paused: /queue: no space is left; no result is lost, and the deliverer tries again")
    queue.close()
  }

  @Test func `what expires by a clock that jumps two hours forward is logged with its number`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open()
    let expiry = test.clock.wall + .seconds(3_600)
    _ = try queue.enqueue([NewPayload("a") { $0.expiresAt = expiry }, NewPayload("b") { $0.expiresAt = expiry }, NewPayload("c")])
    try queue.finishAll()
    test.clock.setWall(by: .seconds(7_200))
    let notices = Mutex<[String]>([])
    var configuration = DelivererConfiguration()
    configuration.isOnce = true
    let sender = AcceptingSender()
    let deliverer = try Deliverer(configuration, queue: queue, sender: sender, queueClock: test.clock, observer: Observer()) { notice in
      notices.withLock { $0.append(notice) }
    }
    #expect(try deliverer.run().ended == [.expired: 2, .delivered: 1])
    let messages = notices.withLock { $0 }
    #expect(messages.first == "payload 1 is expired: its time passed before it was sent: 1h ago")
    #expect(messages.last?.hasPrefix("1 more payload is expired, in ") == true)
    queue.close()
  }
}
