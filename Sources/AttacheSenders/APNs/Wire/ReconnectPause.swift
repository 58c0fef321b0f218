/// The pauses between attempts to connect. Each pause is twice as long as the one before, up to the
/// longest, minus a random part of up to half. Senders that lost one server therefore do not
/// reconnect at the same instant.
struct ReconnectPause {
  private let first: Duration
  private let longest: Duration
  private(set) var failures = 0

  init(first: Duration, longest: Duration) {
    (self.first, self.longest) = (first, longest)
  }

  /// Records a connection that answered.
  mutating func reset() {
    failures = 0
  }

  /// Records a failure.
  ///
  /// - Parameter fraction: a random number in 0…1.
  /// - Returns: how long to wait.
  mutating func next(fraction: Double) -> Duration {
    let pause = min(longest, first * (1 << min(failures, 20)))
    failures += 1
    return pause - pause * (fraction / 2)
  }
}
