import Testing

extension Tag {
  /// The test runs on the real clock, so it takes as long as its deadlines.
  @Tag static var realTime: Self
}
