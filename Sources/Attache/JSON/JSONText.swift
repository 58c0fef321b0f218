/// Valid JSON in its own bytes, with the source ranges of its values. If a name is repeated, its
/// last member counts.
package struct JSONText: Hashable, Sendable {
  /// The source ranges of a member.
  package struct Member {
    /// The name with its quotes.
    package var name: Range<Int>
    package var value: Range<Int>
  }

  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The range of the outermost value, without the white space around it.
  package var root: Range<Int> { bytes.span.rangeOfValue(at: []) }

  /// Returns the value's first byte, which determines its type.
  func first(_ value: Range<Int>) -> UInt8 { bytes[value.lowerBound] }
  package func isObject(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "{") }
  func isArray(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "[") }
  func isNull(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "n") }
  /// Returns whether the value is a string of at least one byte.
  func isText(_ value: Range<Int>) -> Bool { first(value) == UInt8(ascii: "\"") && value.count > 2 }

  /// Returns the source of the value.
  func source(_ value: Range<Int>) -> ArraySlice<UInt8> { bytes[value] }

  /// Returns the decoded string; nil for any other type.
  package func string(_ value: Range<Int>) -> [UInt8]? {
    guard first(value) == UInt8(ascii: "\"") else { return nil }
    return JSONString.unescaped(bytes.span, value.withoutQuotes)
  }

  /// Returns the members of an object in source order; empty for any other type.
  package func members(of object: Range<Int>) -> [Member] {
    var members: [Member] = []
    forEachMember(of: object) { members.append($0) }
    return members
  }

  /// Calls `body` with each member of an object, in source order; with none for any other type.
  func forEachMember(of object: Range<Int>, _ body: (Member) -> Void) {
    guard isObject(object) else { return }
    let span = bytes.span
    var index = span.skipSpace(from: object.lowerBound + 1)
    while index < object.upperBound, span[index] == UInt8(ascii: "\"") {
      let name = index..<span.skipString(from: index)
      let start = span.skipSeparator(from: name.upperBound)
      let end = span.skipValue(from: start)
      body(Member(name: name, value: start..<end))
      index = span.skipSeparator(from: end)
    }
  }

  /// Returns the elements of an array in source order; empty for any other type.
  package func elements(of array: Range<Int>) -> [Range<Int>] {
    guard isArray(array) else { return [] }
    let span = bytes.span
    var elements: [Range<Int>] = []
    var index = span.skipSpace(from: array.lowerBound + 1)
    while index < array.upperBound, span[index] != UInt8(ascii: "]") {
      let end = span.skipValue(from: index)
      elements.append(index..<end)
      index = span.skipSeparator(from: end)
    }
    return elements
  }

  /// Returns the last member of an object with that name.
  package func value(_ name: String, of object: Range<Int>) -> Range<Int>? {
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
    let written = member.name.withoutQuotes
    if written.count == name.utf8.count, bytes[written].elementsEqual(name.utf8) { return true }
    return bytes[written].contains(UInt8(ascii: "\\")) && JSONString.unescaped(bytes.span, written).elementsEqual(name.utf8)
  }

  /// The text without the white space between its tokens.
  package var compact: [UInt8] {
    let span = bytes.span
    var compact: [UInt8] = []
    compact.reserveCapacity(bytes.count)
    var index = span.skipSpace(from: 0)
    while index < bytes.count {
      let end = span.skipStringOrByte(from: index)
      compact.append(contentsOf: bytes[index..<min(end, bytes.count)])
      index = span.skipSpace(from: end)
    }
    return compact
  }
}
