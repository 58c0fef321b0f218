/// Times and spans in the form that the queues store.
extension Duration {
  /// Whole microseconds. The value is limited to 100,000 years, so that two values can be added.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let bounded = min(max(seconds, -Self.maximumSeconds), Self.maximumSeconds)
    return bounded * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  init(microseconds: Int64) {
    self = .microseconds(microseconds)
  }

  private static let maximumSeconds: Int64 = 3_155_760_000_000
}
