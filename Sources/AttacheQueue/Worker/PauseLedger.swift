internal import Attache

/// Which pauses of a worker were told: one a minute at most, and its end with it. A disk at its
/// limit makes a worker pause every few seconds.
struct PauseLedger: Sendable {
  /// How long no further pause is told.
  static let interval = Duration.seconds(60)

  private var isPaused = false
  /// Whether the last that was told is a pause.
  private var isTold = false
  private var toldAt: MonotonicInstant?
  /// Pauses that began since the last that was told, that one not included.
  private var count = 0

  /// Takes how the worker stands.
  ///
  /// - Parameter fault: why it is paused; nil when it is not.
  /// - Returns: what is to be told of it. A pause that lasts is told as soon as it may be.
  mutating func note(_ fault: MachineFault?, at now: MonotonicInstant) -> WorkerNotice? {
    let begins = fault != nil && !isPaused
    isPaused = fault != nil
    guard let fault else {
      defer { isTold = false }
      return isTold ? .resumed : nil
    }
    if begins { count += 1 }
    guard !isTold, toldAt.map({ $0.advanced(by: Self.interval) <= now }) ?? true else { return nil }
    defer { (isTold, toldAt, count) = (true, now, 0) }
    return .paused(fault.text, count: count)
  }
}
