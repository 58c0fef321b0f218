/// A member of a JSON object, and the value that it gets.
package struct MemberChange: Hashable, Sendable {
  var name: UntrustedText
  /// The JSON source of the value; nil removes the member.
  var source: [UInt8]?

  init(_ name: UntrustedText, _ source: [UInt8]?) {
    (self.name, self.source) = (name, source)
  }

  /// Creates a change to a string.
  init(_ name: UntrustedText, string: UntrustedText) {
    var json = JSONWriter()
    json.string(string)
    self.init(name, json.bytes)
  }

  /// Returns whether the member has that name.
  package func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }

  /// The decoded value; nil if it is no string.
  package var text: String? {
    source.map { JSONText($0) }.flatMap { $0.string($0.root) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the value is a string of at least one byte.
  var isText: Bool { (source?.count ?? 0) > 2 }
}

extension JSONText {
  /// Returns the edits that make the changes in an object. All other bytes stay the same.
  ///
  /// If a name is repeated, the last member gets the value, since it counts; a removal removes all
  /// of them. Members that the object does not have are added at its end, in order.
  func edits(of object: Range<Int>, _ changes: [MemberChange]) -> [LineEdit] {
    guard !changes.isEmpty else { return [] }
    let members = members(of: object)
    let places = Dictionary(grouping: members.indices) { string(members[$0].name) ?? [] }
    var edits: [LineEdit] = []
    var added: [MemberChange] = []
    var removed: Set<Int> = []
    for change in changes {
      let places = places[Array(change.name.utf8)] ?? []
      guard let source = change.source else {
        removed.formUnion(places)
        continue
      }
      if let last = places.last.map({ members[$0].value }) {
        if !self.source(last).elementsEqual(source) { edits.append(LineEdit(last, source)) }
      } else {
        added.append(change)
      }
    }
    edits += removals(of: removed, in: members)
    guard !added.isEmpty else { return edits }
    let brace = object.upperBound - 1
    let comma = removed.count == members.count ? [] : [UInt8(ascii: ",")]
    return edits + [LineEdit(brace..<brace, comma + JSONWriter.object(added).dropFirst().dropLast())]
  }

  /// Returns the edits that remove members of an object.
  package func removals(of removed: Set<Int>, in members: [Member]) -> [LineEdit] {
    var edits: [LineEdit] = []
    var start = 0
    while start < members.count {
      var end = start
      while removed.contains(end) { end += 1 }
      if end > start { edits.append(LineEdit(removal(of: start..<end, in: members), [])) }
      start = end + 1
    }
    return edits
  }

  /// Returns the range to delete to remove neighbouring members: the members and the comma before
  /// them or, if they are the first, the comma after them.
  func removal(of indices: Range<Int>, in members: [Member]) -> Range<Int> {
    let (first, last) = (members[indices.lowerBound], members[indices.upperBound - 1])
    if indices.lowerBound > 0 {
      return bytes.span.skipSpace(from: members[indices.lowerBound - 1].value.upperBound)..<last.value.upperBound
    }
    guard members.count > indices.upperBound else { return first.name.lowerBound..<last.value.upperBound }
    return first.name.lowerBound..<bytes.span.skipSpace(from: last.value.upperBound) + 1
  }

  /// Returns the source of each member's value, by the member's decoded name.
  func sources(of object: Range<Int>) -> [[UInt8]: ArraySlice<UInt8>] {
    Dictionary(members(of: object).map { (string($0.name) ?? [], source($0.value)) }) { _, last in last }
  }
}

extension JSONWriter {
  /// Returns an object of the members that have a value.
  package static func object(_ members: [MemberChange]) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    for member in members {
      guard let source = member.source else { continue }
      json.key(member.name.string)
      json.source(source)
    }
    json.endObject()
    return json.bytes
  }
}
