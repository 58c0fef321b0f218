internal import Attache

/// Times in the forms that the reports use.
extension Duration {
  /// `0.5 ms`, `312 ms`, `4.2 s`: about three digits.
  var readable: String {
    let milliseconds = milliseconds
    switch abs(milliseconds) {
    case ..<9.95: return "\(milliseconds.rounded(places: 1)) ms"
    case ..<999.5: return "\(Int(milliseconds.rounded())) ms"
    case ..<99_950: return "\((milliseconds / 1000).rounded(places: 1)) s"
    default: return "\(Int((milliseconds / 1000).rounded())) s"
    }
  }

  /// Milliseconds, rounded to a thousandth, for machine-readable reports.
  var reportedMilliseconds: Double { milliseconds.rounded(places: 3) }

  /// Seconds, rounded to a thousandth.
  var reportedSeconds: Double { (milliseconds / 1000).rounded(places: 3) }
}

extension Double {
  fileprivate func rounded(places: Int) -> Double {
    let scale: Double = (0..<places).reduce(1) { scale, _ in scale * 10 }
    return (self * scale).rounded() / scale
  }
}

extension String {
  /// Returns the string with spaces added on the right up to a width.
  func padded(to width: Int) -> String {
    count < width ? self + String(repeating: " ", count: width - count) : self
  }

  /// Returns the string with spaces added on the left up to a width.
  func aligned(to width: Int) -> String {
    count < width ? String(repeating: " ", count: width - count) + self : self
  }
}
