extension FetchFailure {
  /// Creates the failure of a picture whose conversion is not begun, because it would be late.
  ///
  /// - Parameters:
  ///   - time: how long the conversion takes at least; zero if nothing is known.
  ///   - before: how long those before it take at least.
  ///   - others: how many other pictures are being converted or wait, if it has waited.
  ///   - left: the time that is left for it.
  init(conversionOf pixels: Int, takes time: Duration, after before: Duration, behind others: Int, left: Duration) {
    let queue = others > 0 ? "with \(others) other \(others == 1 ? "picture" : "pictures") waiting or being converted" : ""
    let remedy = "raise --deadline\(others > 0 ? " or --fetchers" : ""), or shrink the picture at the origin"
    guard time > .zero else {
      self.init(
        reason: .convertDeadline,
        message: others > 0 ? "the picture waited for a converter until its time was over, \(queue); \(remedy)" : "")
      return
    }
    let earlier = before > .zero ? ", after \(before.inSeconds) for those before it" : ""
    self.init(
      reason: .convertDeadline,
      message: "the conversion is not begun: a picture of \(pixels / 1_000_000) megapixels needs at least \(time.inSeconds) of a "
        + "converter\(earlier), and \(max(.zero, left).inSeconds) are left\(others > 0 ? ", " + queue : ""); \(remedy)")
  }
}

extension Duration {
  /// Seconds with one decimal.
  fileprivate var inSeconds: String {
    let tenths = Int(min(milliseconds, 1e9) / 100)
    return "\(tenths / 10).\(tenths % 10) s"
  }
}
