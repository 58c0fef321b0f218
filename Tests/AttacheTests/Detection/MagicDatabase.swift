import Foundation

/// The magic numbers of libmagic's own database that are plain comparisons, read from the compiled
/// file.
///
/// Source: `struct magic` in file.h of file 5.44, in the machine's byte order.
enum MagicDatabase {
  /// The bytes and offsets of rules without a preceding rule; empty if the file is missing or has
  /// another format.
  static let magic: [(offset: Int, bytes: [UInt8])] = {
    guard let file = try? [UInt8](Data(contentsOf: URL(filePath: "/usr/share/misc/magic.mgc"))), file.count > entrySize,
      number(file[0..<4]) == 0xF11E_041C, number(file[4..<8]) == 18
    else { return [] }
    return (1...Int(number(file[8..<12]))).compactMap { plain(file[$0 * entrySize..<($0 + 1) * entrySize]) }
  }()

  private static let entrySize = 376

  /// The bytes of a string or of a number that must be equal, at an offset from the beginning.
  private static func plain(_ entry: ArraySlice<UInt8>) -> (Int, [UInt8])? {
    let start = entry.startIndex
    let indirectOrNegative: UInt8 = 0x83
    let isFirst = number(entry[start..<start + 2]) == 0
    guard isFirst, entry[start + 2] & indirectOrNegative == 0, entry[start + 4] == UInt8(ascii: "=") else { return nil }
    let value = entry[(start + 32)...]
    let bytes: [UInt8]
    switch entry[start + 6] {
    case 5, 20: bytes = Array(value.prefix(Int(entry[start + 5])))
    case 1: bytes = Array(value.prefix(1))
    case 2, 10: bytes = Array(value.prefix(2))
    case 4, 11: bytes = Array(value.prefix(4))
    case 24, 25: bytes = Array(value.prefix(8))
    case 7: bytes = value.prefix(2).reversed()
    case 8: bytes = value.prefix(4).reversed()
    case 26: bytes = value.prefix(8).reversed()
    default: return nil
    }
    return (Int(number(entry[start + 12..<start + 16])), bytes)
  }

  /// Little-endian, as on the supported machines.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
