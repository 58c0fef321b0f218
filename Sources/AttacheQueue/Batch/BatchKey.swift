internal import Attache

/// What tells the lines of a batch apart, so that a batch that is begun again adds none twice: the
/// number of the line, and its bytes in a hash.
///
/// Keys of one batch rise with the lines, so that they are added at the end of the index.
enum BatchKey {
  /// Bytes of the hash: a changed line is found out, and nobody gains by making two alike in his
  /// own file.
  private static let hashLength = 8

  static func key(of line: [UInt8], number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } + SHA256.hash(line).bytes.prefix(hashLength)
  }
}
