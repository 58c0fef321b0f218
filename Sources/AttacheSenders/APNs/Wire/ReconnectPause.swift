/// The pauses between attempts to connect: each is twice as long as the one before, up to the
/// longest, less up to half of it by chance, so that senders that lost one server do not come back
/// at one instant.
struct ReconnectPause {
  private let first: Duration
  private let longest: Duration
  private(set) var failures = 0

  init(first: Duration, longest: Duration) {
    (self.first, self.longest) = (first, longest)
  }

  /// Notes a connection that stood and answered.
  mutating func reset() {
    failures = 0
  }

  /// Notes a failure.
  ///
  /// - Parameter fraction: by chance, in 0…1.
  /// - Returns: how long to wait.
  mutating func next(fraction: Double) -> Duration {
    let pause = min(longest, first * (1 << min(failures, 20)))
    failures += 1
    return pause - pause * (fraction / 2)
  }
}
