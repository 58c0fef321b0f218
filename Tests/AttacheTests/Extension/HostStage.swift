import AttacheTesting
import Synchronization
import Testing

@testable import Attache

/// A host on a manual clock, one request, and the deliveries.
final class HostStage: Sendable {
  struct Delivered: Sendable {
    var delivery: ExtensionResult
    var instant: MonotonicInstant
  }

  let clock = ManualClock()
  let start: MonotonicInstant
  let host: ServiceExtensionHost
  private let deliveries = Mutex<[Delivered]>([])
  private let (stream, continuation) = AsyncStream<Void>.makeStream()

  static let budget = Duration.seconds(30)
  static let grace = Duration.seconds(1)

  init(makeExtension: @escaping @Sendable () -> any ServiceExtension) {
    start = clock.now
    host = ServiceExtensionHost(clock: clock, grace: Self.grace, makeExtension: makeExtension)
  }

  convenience init(_ script: ScriptedExtension.Script) {
    self.init { ScriptedExtension(script) }
  }

  /// Hands a request to the host.
  func run(content: NotificationContent = NotificationContent(body: "Hello"), references: [MediaReference] = []) {
    let payload = Payload(content: content, references: references, dialect: nil, splice: Splice(payload: 0..<2))
    let request = NotificationRequest(identifier: "1", payload: payload, deadline: start.advanced(by: Self.budget))
    host.run(request) { [self] delivery in
      deliveries.withLock { $0.append(Delivered(delivery: delivery, instant: clock.now)) }
      continuation.yield()
    }
  }

  /// Returns when something has been delivered.
  func waitForDelivery() async {
    for await _ in stream { return }
  }

  var delivered: [Delivered] {
    deliveries.withLock { $0 }
  }

  /// The only delivery; nil if there is none or more than one.
  var only: Delivered? {
    deliveries.withLock { $0.count == 1 ? $0[0] : nil }
  }

  /// The time of the delivery, from the start.
  var elapsed: Duration? {
    only.map { start.duration(to: $0.instant) }
  }
}

/// An event that tests wait for.
final class Event: Sendable {
  private let (stream, continuation) = AsyncStream<Void>.makeStream()

  func happen() {
    continuation.yield()
  }

  func wait() async {
    for await _ in stream { return }
  }
}
