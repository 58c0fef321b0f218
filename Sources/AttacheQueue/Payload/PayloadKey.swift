package import Attache
/// How a payload gets its key, so that a payload that is enqueued twice is added once.
package enum PayloadKey: Sendable {
  /// No key: each payload is new.
  case none
  /// The line's bytes, without its line ending.
  case bytes
  /// The value at this place of the line, envelope included. A line without the value is new.
  case place(JSONPointer)
  /// A key from the caller, for a line with its line ending and its number from 1.
  case own(@Sendable (_ line: [UInt8], _ number: Int) -> [UInt8]?)

  /// Longer values are replaced by their hash, because keys are stored in an index. In bytes.
  static let maximumValue = 64

  /// Returns the key of a line.
  func key(of line: [UInt8], number: Int, _ reader: DeliveryReader) -> [UInt8]? {
    switch self {
    case .none: nil
    case .bytes: Self.hash(line.prefix(line.count - Self.endingLength(of: line)))
    case .place(let place): reader.value(at: place, of: line).map { $0.count > Self.maximumValue ? Self.hash($0[...]) : $0 }
    case .own(let key): key(line, number)
    }
  }

  /// Returns the keys that a user's text may mean: the value at a place of the line, as a string or
  /// another JSON value, or the SHA-256 of a line.
  package static func candidates(of text: String) -> [[UInt8]] {
    let value = Array(text.utf8)
    let values = [value, [DeliveryReader.valueMark] + value].map { $0.count > maximumValue ? hash($0[...]) : $0 }
    return values + (hexadecimal(value).map { [$0] } ?? [])
  }

  /// Returns a key as it is searched: the value, as a string or JSON, or the hash of a long one.
  package static func value(_ key: [UInt8]) -> String {
    let value = key.first == DeliveryReader.valueMark ? key.dropFirst() : key[...]
    return String(validating: value, as: UTF8.self) ?? key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Returns a key for people.
  package static func text(_ key: [UInt8]) -> String { PrintableText.of(value(key)) }

  /// Decodes the hexadecimal digits of a SHA-256. Returns nil for any other text.
  private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
    guard digits.count == 64 else { return nil }
    let halves = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard halves.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(halves[$0] << 4 | halves[$0 + 1]) }
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    SHA256.hash(Array(bytes)).bytes
  }

  /// The length of a final `\n` or `\r\n`.
  private static func endingLength(of line: [UInt8]) -> Int {
    guard line.last == UInt8(ascii: "\n") else { return 0 }
    return line.dropLast().last == UInt8(ascii: "\r") ? 2 : 1
  }
}
