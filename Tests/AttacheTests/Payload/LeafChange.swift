@testable import Attache

/// A string or a digit of a line, and what it is in another line that has the same bytes around.
struct LeafChange: Hashable {
  let before, after: String

  /// Returns the strings and digits that differ, those of JSON inside strings included; nil if
  /// anything else differs.
  static func all(_ before: [UInt8], _ after: [UInt8]) -> [LeafChange]? {
    var changes: [LeafChange] = []
    var (index, other) = (0, 0)
    while index < before.count, other < after.count {
      let (end, otherEnd) = (before.span.skipStringOrByte(from: index), after.span.skipStringOrByte(from: other))
      let (piece, otherPiece) = (before[index..<end], after[other..<otherEnd])
      (index, other) = (end, otherEnd)
      guard !piece.elementsEqual(otherPiece) else { continue }
      if let digit = piece.first?.decimalDigit, let otherDigit = otherPiece.first?.decimalDigit {
        changes.append(LeafChange(before: "\(digit)", after: "\(otherDigit)"))
        continue
      }
      guard piece.count > 1, otherPiece.count > 1 else { return nil }
      let (text, otherText) = (decoded(piece), decoded(otherPiece))
      if let first = text.first, [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(first) {
        guard let inner = all(text, otherText) else { return nil }
        changes += inner
      } else {
        changes.append(LeafChange(before: String(decoding: text, as: UTF8.self), after: String(decoding: otherText, as: UTF8.self)))
      }
    }
    return index == before.count && other == after.count ? changes : nil
  }

  private static func decoded(_ string: ArraySlice<UInt8>) -> [UInt8] {
    let bytes = Array(string)
    return JSONString.unescaped(bytes.span, bytes.indices.withoutQuotes)
  }
}
