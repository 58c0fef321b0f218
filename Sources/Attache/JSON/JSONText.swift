/// Valid JSON in bytes of its own, and where its values are written. Of members with one name the
/// last counts.
struct JSONText {
  /// A member as it is written.
  struct Member {
    /// The name with its quotes.
    var name: Range<Int>
    var value: Range<Int>
  }

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The value that the whole text is, less the space around it.
  var root: Range<Int> { JSONSource.range(in: bytes.span, places: []) }

  /// The value's first byte, which says its type.
  func first(_ value: Range<Int>) -> UInt8 { bytes[value.lowerBound] }
  func isObject(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "{") }
  func isArray(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "[") }
  /// Whether this is a string of at least one byte.
  func isText(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "\"") && value.count > 2 }

  /// The value as it is written.
  func source(_ value: Range<Int>) -> ArraySlice<UInt8> { bytes[value] }

  /// What a string says; nil for anything else.
  func string(_ value: Range<Int>) -> [UInt8]? {
    guard first(value) == UInt8(ascii: "\"") else { return nil }
    return JSONString.unescaped(bytes.span, value.lowerBound + 1..<value.upperBound - 1)
  }

  /// The members of an object as they are written, in order; none of anything else.
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

  /// The elements of an array as they are written, in order; none of anything else.
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

  /// The last member of an object with that name.
  func value(_ name: String, of object: Range<Int>) -> Range<Int>? {
    var value: Range<Int>?
    forEachMember(of: object) { if isNamed($0, name) { value = $0.value } }
    return value
  }

  /// What tells the member's name from any other, however it is written.
  func identity(of member: Member) -> [UInt8] {
    JSONString.identity(bytes.span, member.name.withoutQuotes)
  }

  /// Whether a member has that name, however it is written.
  func isNamed(_ member: Member, _ name: String) -> Bool {
    let written = member.name.lowerBound + 1..<member.name.upperBound - 1
    if written.count == name.utf8.count, bytes[written].elementsEqual(name.utf8) { return true }
    return bytes[written].contains(UInt8(ascii: "\\")) && JSONString.unescaped(bytes.span, written).elementsEqual(name.utf8)
  }

  /// A bare number or word runs up to the comma or brace; the space before that is no part of it.
  private func trimmed(_ value: Range<Int>) -> Range<Int> {
    var end = value.upperBound
    while end > value.lowerBound, bytes[end - 1].isJSONSpace { end -= 1 }
    return value.lowerBound..<end
  }
}
