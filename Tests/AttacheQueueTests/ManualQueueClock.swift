import AttacheQueue
import Synchronization

/// Clocks that stand still until a test turns them.
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

  /// Time passes.
  func pass(_ span: Duration) {
    state.withLock { state in
      state.wall += span
      state.uptime += span
    }
  }

  /// The wall clock is set, while no time passes.
  func setWall(by span: Duration) {
    state.withLock { $0.wall += span }
  }

  /// The machine is started again.
  func startAgain() {
    state.withLock { state in
      state.boot += " and another"
      state.uptime = .seconds(20)
      state.wall += .seconds(60)
    }
  }
}
