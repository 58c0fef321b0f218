/// Moments and spans as the queues store them.
extension Duration {
  /// Whole microseconds; what is further away than 100,000 years is taken as that, so that two of
  /// them can be added.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let bounded = min(max(seconds, -Self.maximumSeconds), Self.maximumSeconds)
    return bounded * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  init(microseconds: Int64) {
    self = .microseconds(microseconds)
  }

  private static let maximumSeconds: Int64 = 3_155_760_000_000
}
