import AttacheQueue
import Synchronization

/// Clocks that a test sets by hand.
final class ManualClock: QueueClock {
  private let passed = Mutex(Duration.zero)

  let boot = "boot"
  /// In November 2026.
  var wall: Duration { .seconds(1_794_000_000) + uptime }
  var uptime: Duration { passed.withLock { $0 } }

  func pass(_ span: Duration) {
    passed.withLock { $0 += span }
  }
}
