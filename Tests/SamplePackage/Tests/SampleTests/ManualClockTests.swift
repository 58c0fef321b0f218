import Attache
import AttacheTesting
import Synchronization
import Testing

/// A service extension of one's own, on a clock that the test turns.
@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
  /// Shortens the text when there is no time left for more.
  private final class Shortener: ServiceExtension {
    static let returnsAtOnce = true

    private let answer = Mutex<(ExtensionReply, NotificationContent)?>(nil)

    func didReceive(_ request: NotificationRequest, answer: ExtensionReply) {
      self.answer.withLock { $0 = (answer, request.content) }
    }

    func timeWillExpire() {
      guard var (answer, content) = answer.withLock({ $0.take() }) else { return }
      content.body = String(content.body.prefix(5))
      answer.offer(.content(content))
    }
  }

  @Test func `time expires half a second before the deadline, and not before`() {
    let clock = ManualClock()
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(500)) { Shortener() }
    let payload = Payload(
      content: NotificationContent(body: "Hello, Anna"), references: [], dialect: nil, splice: Splice(payload: 0..<2))
    let bodies = Mutex<[String]>([])
    host.run(NotificationRequest(identifier: "1", payload: payload, deadline: clock.now.advanced(by: .seconds(30)))) { delivery in
      bodies.withLock { $0.append(delivery.content?.body ?? "the original") }
    }
    clock.advance(by: .milliseconds(29_499))
    #expect(bodies.withLock { $0 } == [])
    clock.advance(by: .milliseconds(1))
    #expect(bodies.withLock { $0 } == ["Hello"])
  }
}
