import AttacheQueue
import Synchronization

/// Clocks that a test sets by hand.
final class ManualQueueClock: QueueClock {
  private struct State {
    /// In November 2026.
    var wall = Duration.seconds(1_794_000_000)
    var uptime = Duration.seconds(5_000)
    var boot = "first boot"
  }

  private let state = Mutex(State())

  var wall: Duration { state.withLock(\.wall) }
  var uptime: Duration { state.withLock(\.uptime) }
  var boot: String { state.withLock(\.boot) }

  /// Advances the time.
  func pass(_ span: Duration) {
    state.withLock { state in
      state.wall += span
      state.uptime += span
    }
  }

  /// Sets the wall clock without advancing the time.
  func setWall(by span: Duration) {
    state.withLock { $0.wall += span }
  }

  /// Restarts the machine.
  func startAgain() {
    state.withLock { state in
      state.boot += " and another"
      state.uptime = .seconds(20)
      state.wall += .seconds(60)
    }
  }
}
