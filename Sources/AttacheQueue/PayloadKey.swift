package import Attache
/// What tells a payload from others, so that enqueuing it twice is once.
package enum PayloadKey: Sendable {
  /// Every payload is a new one.
  case none
  /// The line's bytes, without its ending.
  case bytes
  /// What stands at a place of the line, its envelope included; a line that has nothing there is a
  /// new one.
  case place(JSONPointer)
  /// The caller's own: of a line, with its ending, and its number from 1.
  case own(@Sendable (_ line: [UInt8], _ number: Int) -> [UInt8]?)

  /// A longer value is known by its hash: keys lie in an index.
  static let maximumValue = 64

  /// The key of a line.
  func key(of line: [UInt8], number: Int, _ reader: DeliveryReader) -> [UInt8]? {
    switch self {
    case .none: nil
    case .bytes: Self.hash(line.prefix(line.count - Self.endingLength(of: line)))
    case .place(let place): reader.value(at: place, of: line).map { $0.count > Self.maximumValue ? Self.hash($0[...]) : $0 }
    case .own(let key): key(line, number)
    }
  }

  /// The keys that a text may stand for which a user gives: the value at a place of the line, be it
  /// a string or another value, or the SHA-256 of a line.
  package static func candidates(of text: String) -> [[UInt8]] {
    let value = Array(text.utf8)
    let values = [value, [DeliveryReader.valueMark] + value].map { $0.count > maximumValue ? hash($0[...]) : $0 }
    return values + (hexadecimal(value).map { [$0] } ?? [])
  }

  /// The bytes that digits write; nil where they are none of a SHA-256.
  private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count == 64 else { return nil }
    let halves = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard halves.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(halves[$0] << 4 | halves[$0 + 1]) }
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    SHA256.hash(Array(bytes)).bytes
  }

  /// Of `\n` or `\r\n`.
  private static func endingLength(of line: [UInt8]) -> Int {
    guard line.last == UInt8(ascii: "\n") else { return 0 }
    return line.dropLast().last == UInt8(ascii: "\r") ? 2 : 1
  }
}
