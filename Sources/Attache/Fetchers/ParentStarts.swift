/// Decides when the process that starts fetchers may be started again after it has ended. A pure
/// value.
struct ParentStarts {
  /// The longest pause before it is started again.
  static let longestPause = Duration.seconds(1)
  private static let firstPause = Duration.milliseconds(10)

  private var pause = Duration.zero

  /// Records that a fetcher is ready.
  mutating func noteReady() { pause = .zero }

  /// Records an end.
  ///
  /// - Returns: the pause before the next start: none at first, then twice the last one, so that a
  ///   process that ends repeatedly is not restarted continuously.
  mutating func notedEnd() -> Duration {
    defer { pause = min(Self.longestPause, max(Self.firstPause, pause * 2)) }
    return pause
  }

  /// Whether no fetcher has become ready after so many starts that the requests must fail.
  var failsRequests: Bool { pause == Self.longestPause }
}
