internal import ArgumentParser
internal import Attache

/// A number of bytes as a user writes it, such as `4096`, `500KB` or `64KiB`. A number without a
/// unit counts bytes. KB, MB, GB and TB are powers of 1,000; KiB, MiB, GiB and TiB are powers of
/// 1,024.
package struct ByteCountArgument: ExpressibleByArgument, CustomStringConvertible {
  package var bytes: Int64
  package let description: String

  private static let units: [(suffix: String, bytes: Double)] = [
    ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1), ("", 1),
  ]

  package init(_ bytes: Int64, as text: String) {
    self.bytes = bytes
    description = text
  }

  package init?(argument: String) {
    let upper = argument.uppercased()
    for (suffix, scale) in Self.units where upper.hasSuffix(suffix.uppercased()) {
      guard let number = PlainNumber(argument.dropLast(suffix.count)), number.value * scale < 9e18 else { return nil }
      bytes = Int64(number.value * scale)
      description = argument
      return
    }
    return nil
  }

  package static var allValueStrings: [String] { [] }
}
