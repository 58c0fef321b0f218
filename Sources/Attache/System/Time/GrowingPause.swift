/// The pause after failures in a row, before a process is started or a connection is made again. Each
/// is twice as long as the one before, up to the longest. A pure value.
package struct GrowingPause: Sendable {
  /// The work of a process fails after this many failures in a row. Fewer are retried: the system may
  /// be unable to create a process for a moment.
  static let maximumFailures = 8

  private let first: Duration
  private let longest: Duration
  /// How many failures in a row cost no pause.
  private let free: Int
  private(set) var failures = 0

  package init(first: Duration, longest: Duration, free: Int = 0) {
    (self.first, self.longest, self.free) = (first, longest, free)
  }

  /// The pause after the failures so far.
  var length: Duration {
    failures <= free ? .zero : min(longest, first * (1 << min(failures - free - 1, 20)))
  }

  /// Records a failure.
  ///
  /// - Returns: how long to wait.
  package mutating func next() -> Duration {
    failures += 1
    return length
  }

  /// Records a success.
  package mutating func reset() { failures = 0 }
}
