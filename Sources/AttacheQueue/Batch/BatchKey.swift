internal import Attache

/// The keys of a batch's lines, which prevent duplicates when the batch is restarted: the line
/// number and a hash of the line's bytes.
///
/// Keys increase with the line numbers, so that they are added at the end of the index.
enum BatchKey {
  /// In bytes. Enough to detect a changed line; collisions that users create in their own file are
  /// no threat.
  private static let hashLength = 8

  static func key(of line: [UInt8], number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } + SHA256.hash(line).bytes.prefix(hashLength)
  }
}
