/// Makes a copy of a line that simdjson can parse, although the line has numbers or escapes that
/// simdjson rejects and JSON's grammar allows.
///
/// A number that fits neither 64 bits nor a `Double` becomes `null`, padded with spaces; such a
/// number cannot be a badge or a flag. An unpaired surrogate (`\ud83d` alone) becomes `\ufffd`. So
/// every other byte keeps its offset, and invalid JSON stays invalid.
enum SimdjsonRepair {
  /// Returns the copy, followed by `padding` zero bytes.
  static func make(of line: UnsafeRawBufferPointer, padding: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(line.count + padding)
    unsafe bytes.append(contentsOf: line)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): index = mendString(in: &bytes, from: index)
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): index = blankNumber(in: &bytes, from: index)
      default: index += 1
      }
    }
    bytes.append(contentsOf: repeatElement(0, count: padding))
    return bytes
  }

  /// Repairs the escapes of the string that opens at `start`; returns the index after its closing
  /// quote.
  private static func mendString(in bytes: inout [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      guard bytes[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      guard let unit = JSONString.unit(of: bytes.span, at: index) else {
        index += 2
        continue
      }
      if 0xD800..<0xDC00 ~= unit, let next = JSONString.unit(of: bytes.span, at: index + 6), 0xDC00..<0xE000 ~= next {
        index += 12
        continue
      }
      if 0xD800..<0xE000 ~= unit { bytes.replaceSubrange(index + 2..<index + 6, with: "fffd".utf8) }
      index += 6
    }
    return index + 1
  }

  /// Replaces the number that starts at `start` if no type can hold it; returns the index after it.
  private static func blankNumber(in bytes: inout [UInt8], from start: Int) -> Int {
    let end = bytes[start...].firstIndex { !isPartOfNumber($0) } ?? bytes.count
    guard isUnbearable(bytes[start..<end]) else { return end }
    // Write byte by byte, while the array has a single owner: a slice of it would cause a copy of
    // the whole line for each number.
    for index in start..<end { bytes[index] = UInt8(ascii: " ") }
    for (index, byte) in zip(start..., "null".utf8) { bytes[index] = byte }
    return end
  }

  private static func isUnbearable(_ number: ArraySlice<UInt8>) -> Bool {
    followsGrammar(number) && isOutOfRange(String(decoding: number, as: UTF8.self))
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: byte >= 0x80
    }
  }

  /// Returns whether the number follows the grammar of RFC 8259, section 6:
  ///
  /// `[-] (0 / 1-9 *digit) [. 1*digit] [(e / E) [+ / -] 1*digit]`.
  private static func followsGrammar(_ number: ArraySlice<UInt8>) -> Bool {
    var rest = number
    func skipDigits() -> Int {
      let digits = rest.prefix { 0x30...0x39 ~= $0 }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    func skip(_ bytes: UInt8...) -> Bool {
      guard let first = rest.first, bytes.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = skip(UInt8(ascii: "-"))
    if !skip(UInt8(ascii: "0")), skipDigits() == 0 { return false }
    if skip(UInt8(ascii: ".")), skipDigits() == 0 { return false }
    if skip(UInt8(ascii: "e"), UInt8(ascii: "E")) {
      _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
      if skipDigits() == 0 { return false }
    }
    return rest.isEmpty
  }

  private static func isOutOfRange(_ number: String) -> Bool {
    if number.utf8.contains(where: { [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0) }) {
      return Double(number).map(\.isInfinite) ?? true
    }
    return Int64(number) == nil && UInt64(number) == nil
  }
}
