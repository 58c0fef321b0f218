import AttacheTesting
import Foundation
import Synchronization
import Testing

@testable import Attache

/// Concurrent offers, expiry and cancellation.
@Suite(.timeLimit(.minutes(1))) struct ExtensionRaceTests {
  private final class Course: Sendable {
    let answers = Mutex<[ExtensionReply]>([])
    let deliveries: Mutex<[Int]>
    let accepted = Atomic<Int>(0)
    let refused = Atomic<Int>(0)

    init(requests: Int) {
      deliveries = Mutex(Array(repeating: 0, count: requests))
    }

    func offer(to answer: ExtensionReply) {
      if answer.offer(.content(NotificationContent(body: "Better"))) {
        accepted.wrappingAdd(1, ordering: .relaxed)
      } else {
        refused.wrappingAdd(1, ordering: .relaxed)
      }
    }
  }

  @Test(arguments: [UInt64(1), 2, 3]) func `1,000 requests are delivered once each, whatever races`(seed: UInt64) async {
    let (clock, course, requests) = (ManualClock(), Course(requests: 1_000), 1_000)
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(10)) {
      PromptExtension(.init(receive: { _, answer in course.answers.withLock { $0.append(answer) } }))
    }
    var generator = SeededGenerator(seed: seed)
    for number in 0..<requests {
      let payload = Payload(content: NotificationContent(body: "Hello"), references: [], dialect: nil, splice: Splice(payload: 0..<2))
      let deadline = clock.now.advanced(by: .milliseconds(Int.random(in: 20...200, using: &generator)))
      host.run(NotificationRequest(identifier: "\(number)", payload: payload, deadline: deadline)) { _ in
        course.deliveries.withLock { $0[number] += 1 }
      }
    }
    let answers = course.answers.withLock { $0 }
    let offers = (0..<3).map { _ in answers.shuffled(using: &generator) }
    await withThreads(
      offers.map { answers in { for answer in answers { course.offer(to: answer) } } } + [
        { for _ in 0..<100 { clock.advance(by: .milliseconds(1)) } },
        {
          while course.accepted.load(ordering: .relaxed) < 100 { sched_yield() }; host.cancelAll()
        },
      ])
    #expect(course.deliveries.withLock { $0 } == Array(repeating: 1, count: requests))
    #expect(course.accepted.load(ordering: .relaxed) >= 100)
    #expect(host.droppedOffers >= course.refused.load(ordering: .relaxed))
    #expect(clock.appointments == 0)
  }

  /// Runs each body on its own thread, all at the same time.
  private func withThreads(_ bodies: [@Sendable () -> Void]) async {
    let (ends, continuation) = AsyncStream<Void>.makeStream()
    for body in bodies {
      Foundation.Thread.detachNewThread {
        body()
        continuation.yield()
      }
    }
    var count = 0
    for await _ in ends {
      count += 1
      if count == bodies.count { return }
    }
  }
}
