/// Parses a number of bytes in the form `4096`, `500KB` or `64KiB`. A number without a unit counts
/// bytes. KB, MB, GB and TB are powers of 1,000; KiB, MiB, GiB and TiB are powers of 1,024.
package enum WrittenByteCount {
  private static let units: [(suffix: String, bytes: Double)] = [
    ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1), ("", 1),
  ]

  /// - Returns: nil for any other text, and for 9e18 bytes or more.
  package static func bytes(_ text: String) -> Int64? {
    let upper = text.uppercased()
    for (suffix, scale) in units where upper.hasSuffix(suffix.uppercased()) {
      guard let number = PlainNumber(text.dropLast(suffix.count)), number.value * scale < 9e18 else { return nil }
      return Int64(number.value * scale)
    }
    return nil
  }
}
