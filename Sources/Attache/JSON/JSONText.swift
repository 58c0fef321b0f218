/// Valid JSON in its own bytes, with the source ranges of its values. If a name is repeated, its
/// last member counts.
struct JSONText {
  /// The source ranges of a member.
  struct Member {
    /// The name with its quotes.
    var name: Range<Int>
    var value: Range<Int>
  }

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The range of the outermost value, without the white space around it.
  var root: Range<Int> { JSONSource.range(in: bytes.span, places: []) }

  /// Returns the value's first byte, which determines its type.
  func first(_ value: Range<Int>) -> UInt8 { bytes[value.lowerBound] }
  func isObject(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "{") }
  func isArray(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "[") }
  /// Returns whether the value is a string of at least one byte.
  func isText(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "\"") && value.count > 2 }

  /// Returns the source of the value.
  func source(_ value: Range<Int>) -> ArraySlice<UInt8> { bytes[value] }

  /// Returns the decoded string; nil for any other type.
  func string(_ value: Range<Int>) -> [UInt8]? {
    guard first(value) == UInt8(ascii: "\"") else { return nil }
    return JSONString.unescaped(bytes.span, value.lowerBound + 1..<value.upperBound - 1)
  }

  /// Returns the members of an object in source order; empty for any other type.
  func members(of object: Range<Int>) -> [Member] {
    var members: [Member] = []
    forEachMember(of: object) { members.append($0) }
    return members
  }

  private func forEachMember(of object: Range<Int>, _ body: (Member) -> Void) {
    guard isObject(object) else { return }
    let span = bytes.span
    var index = JSONSource.skipSpace(span, from: object.lowerBound + 1)
    while index < object.upperBound, span[index] == UInt8(ascii: "\"") {
      let name = index..<JSONSource.skipString(span, from: index)
      let start = JSONSource.skipSpace(span, from: JSONSource.skipSpace(span, from: name.upperBound) + 1)
      let end = JSONSource.skipValue(span, from: start)
      body(Member(name: name, value: trimmed(start..<end)))
      index = JSONSource.skipSpace(span, from: JSONSource.skipSpace(span, from: end) + 1)
    }
  }

  /// Returns the elements of an array in source order; empty for any other type.
  func elements(of array: Range<Int>) -> [Range<Int>] {
    guard isArray(array) else { return [] }
    let span = bytes.span
    var elements: [Range<Int>] = []
    var index = JSONSource.skipSpace(span, from: array.lowerBound + 1)
    while index < array.upperBound, span[index] != UInt8(ascii: "]") {
      let end = JSONSource.skipValue(span, from: index)
      elements.append(trimmed(index..<end))
      index = JSONSource.skipSpace(span, from: JSONSource.skipSpace(span, from: end) + 1)
    }
    return elements
  }

  /// Returns the last member of an object with that name.
  func value(_ name: String, of object: Range<Int>) -> Range<Int>? {
    var value: Range<Int>?
    forEachMember(of: object) { if isNamed($0, name) { value = $0.value } }
    return value
  }

  /// Returns bytes that identify the member's name, however it is escaped.
  func identity(of member: Member) -> [UInt8] {
    JSONString.identity(bytes.span, member.name.withoutQuotes)
  }

  /// Returns whether a member has that name, however it is escaped.
  func isNamed(_ member: Member, _ name: String) -> Bool {
    let written = member.name.lowerBound + 1..<member.name.upperBound - 1
    if written.count == name.utf8.count, bytes[written].elementsEqual(name.utf8) { return true }
    return bytes[written].contains(UInt8(ascii: "\\")) && JSONString.unescaped(bytes.span, written).elementsEqual(name.utf8)
  }

  /// Removes the white space after a number or word, whose range runs up to the next comma or
  /// bracket.
  private func trimmed(_ value: Range<Int>) -> Range<Int> {
    var end = value.upperBound
    while end > value.lowerBound, bytes[end - 1].isJSONSpace { end -= 1 }
    return value.lowerBound..<end
  }
}
