/// Reads the words of a Swift source, without its comments and strings.
struct SourceScanner {
  private let source: [UInt8]
  private var position = 0

  init(_ source: [UInt8]) {
    self.source = source
  }

  /// Returns the range of the next word, with an `@` or `#` before it; nil at the end.
  mutating func next() -> Range<Int>? {
    while position < source.count {
      if skipCommentOrString() { continue }
      let start = position
      position += 1
      guard isWord(source[start]) || (Self.signs.contains(source[start]) && isWord(at: position)) else { continue }
      while isWord(at: position) { position += 1 }
      return start..<position
    }
    return nil
  }

  /// Returns the range of the parentheses that follow directly; nil if there are none.
  mutating func argument() -> Range<Int>? {
    guard byte(at: position) == UInt8(ascii: "("), let end = source[position...].firstIndex(of: UInt8(ascii: ")")) else { return nil }
    defer { position = end + 1 }
    return position..<end + 1
  }

  /// Returns the range of the module's name after `import`, and after the kind of a single
  /// declaration's import.
  mutating func imported() -> Range<Int>? {
    let kinds = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]
    var name = nameOnLine()
    if let first = name, kinds.contains(where: { source[first].elementsEqual($0.utf8) }) { name = nameOnLine() }
    return name
  }

  private mutating func nameOnLine() -> Range<Int>? {
    while byte(at: position) == UInt8(ascii: " ") || byte(at: position) == UInt8(ascii: "\t") { position += 1 }
    let start = position
    while isWord(at: position) { position += 1 }
    return start == position ? nil : start..<position
  }

  private static let signs = [UInt8(ascii: "@"), UInt8(ascii: "#")]

  private func byte(at index: Int) -> UInt8? {
    index < source.count ? source[index] : nil
  }

  private func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || ASCIIWord.contains(byte)
  }

  private func isWord(at index: Int) -> Bool {
    byte(at: index).map(isWord) ?? false
  }

  private func begins(_ text: StaticString, at index: Int) -> Bool {
    let bytes = "\(text)".utf8
    return source[min(index, source.count)...].starts(with: bytes)
  }

  /// Skips a comment or a string that begins here.
  private mutating func skipCommentOrString() -> Bool {
    if begins("//", at: position) {
      position = source[position...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
    } else if begins("/*", at: position) {
      skipBlockComment()
    } else if let hashes = hashesOfString() {
      skipString(hashes)
    } else {
      return false
    }
    return true
  }

  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if begins("/*", at: position) {
        depth += 1
        position += 2
      } else if begins("*/", at: position) {
        depth -= 1
        position += 2
      } else {
        position += 1
      }
    } while depth > 0 && position < source.count
  }

  /// The number of `#` before the quotation mark of a string that begins here; nil for no string.
  private func hashesOfString() -> Int? {
    let hashes = source[position...].prefix { $0 == UInt8(ascii: "#") }.count
    return byte(at: position + hashes) == UInt8(ascii: "\"") ? hashes : nil
  }

  private mutating func skipString(_ hashes: Int) {
    position += hashes
    let marks = begins("\"\"\"", at: position) ? 3 : 1
    position += marks
    let end = [UInt8](repeating: UInt8(ascii: "\""), count: marks) + [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
    let escape = [UInt8(ascii: "\\")] + [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
    while position < source.count {
      if source[position...].starts(with: end) {
        position += end.count
        return
      }
      // An unterminated string of one line ends with the line.
      if marks == 1, hashes == 0, source[position] == UInt8(ascii: "\n") { return }
      guard source[position...].starts(with: escape) else {
        position += 1
        continue
      }
      position += escape.count
      if byte(at: position) == UInt8(ascii: "(") { skipInterpolation() } else { position += 1 }
    }
  }

  private mutating func skipInterpolation() {
    var depth = 0
    repeat {
      if skipCommentOrString() { continue }
      if source[position] == UInt8(ascii: "(") { depth += 1 }
      if source[position] == UInt8(ascii: ")") { depth -= 1 }
      position += 1
    } while depth > 0 && position < source.count
  }
}

/// The bytes of names in ASCII.
private enum ASCIIWord {
  static func contains(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
