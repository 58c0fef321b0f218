internal import Attache
internal import AttacheQueue
internal import Synchronization

/// The time in which no server of a queue accepts a connection. It is reported at the first attempt
/// that fails, then once a minute, and when it ends. Meanwhile the process is not ready
/// (``LockWaits/current``).
final class ServerAbsence: Sendable {
  private struct State {
    var since: MonotonicInstant?
    var toldAt = MonotonicInstant.distantPast
    var wait: UInt64 = 0
    /// Whether a server has ever accepted a connection. A queue that cannot be opened fails at once.
    var isExpected = false
  }

  private static let interval = Duration.seconds(60)

  private let waits: LockWaits
  private let name: String
  private let state = Mutex(State())

  /// - Parameter name: the queue's address.
  init(_ name: String, _ waits: LockWaits) {
    (self.name, self.waits) = (name, waits)
  }

  deinit {
    let wait = state.withLock { $0.since == nil ? nil : $0.wait }
    if let wait { waits.end(wait) }
  }

  /// Records that no server accepts a connection.
  func note(_ why: String) {
    let now = waits.now
    let told = state.withLock { state -> (since: MonotonicInstant, wait: UInt64)? in
      guard state.isExpected else { return nil }
      if state.since == nil { (state.since, state.wait, state.toldAt) = (now, waits.begin(), .distantPast) }
      guard let since = state.since, state.toldAt == .distantPast || state.toldAt.duration(to: now) >= Self.interval else { return nil }
      state.toldAt = now
      return (since, state.wait)
    }
    guard let (since, wait) = told else { return }
    let seconds = since.duration(to: now).components.seconds
    let span = seconds < 1 ? "" : " for \(seconds) s"
    waits.report("\(name): the queue has been away\(span): \(why); nothing is lost, and it is asked again".onOneLine, of: wait)
  }

  /// Records that a server has accepted a connection.
  func end() {
    let now = waits.now
    let ended = state.withLock { state -> (since: MonotonicInstant, wait: UInt64)? in
      state.isExpected = true
      guard let since = state.since else { return nil }
      state.since = nil
      return (since, state.wait)
    }
    guard let (since, wait) = ended else { return }
    waits.end(wait)
    waits.notify("\(name): the queue is back after \((since.duration(to: now) / .milliseconds(100)).rounded() / 10) s")
  }
}
