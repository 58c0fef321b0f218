import Testing

extension Tag {
  /// The test runs against the real clock: it takes as long as its deadlines say.
  @Tag static var realTime: Self
}
