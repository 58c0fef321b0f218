extension JSONText {
  /// The depth below which values are not compared member by member.
  private static let maximumDepth = 64

  /// Returns another text's value, in the bytes of this text wherever the two are equal. Software that
  /// parses and writes JSON changes numbers such as `1.10` and escapes that nobody touched.
  func merged(with new: JSONText) -> [UInt8] {
    merged(root, with: new, new.root, depth: 0)
  }

  private func merged(_ value: Range<Int>, with new: JSONText, _ newValue: Range<Int>, depth: Int) -> [UInt8] {
    if isEqual(value, to: new, newValue, depth: depth) { return Array(source(value)) }
    guard isObject(value), new.isObject(newValue), depth < Self.maximumDepth else { return Array(new.source(newValue)) }
    let changed = Dictionary(new.members(of: newValue).map { (new.identity(of: $0), $0) }) { _, last in last }
    var json = JSONWriter()
    json.beginObject()
    var written: Set<[UInt8]> = []
    for member in members(of: value) {
      let name = identity(of: member)
      guard let other = changed[name] else { continue }
      json.key(source: source(member.name))
      json.source(merged(member.value, with: new, other.value, depth: depth + 1))
      written.insert(name)
    }
    for member in new.members(of: newValue) where written.insert(new.identity(of: member)).inserted {
      json.key(source: new.source(member.name))
      json.source(new.source(member.value))
    }
    json.endObject()
    return json.bytes
  }

  /// Returns whether two values mean the same.
  private func isEqual(_ value: Range<Int>, to other: JSONText, _ otherValue: Range<Int>, depth: Int) -> Bool {
    if source(value).elementsEqual(other.source(otherValue)) { return true }
    guard depth < Self.maximumDepth else { return false }
    switch (first(value), other.first(otherValue)) {
    case (UInt8(ascii: "{"), UInt8(ascii: "{")):
      let (mine, theirs) = (members(of: value), other.members(of: otherValue))
      let byName = Dictionary(theirs.map { (other.identity(of: $0), $0) }) { _, last in last }
      return mine.count == theirs.count
        && mine.allSatisfy { member in
          byName[identity(of: member)].map { isEqual(member.value, to: other, $0.value, depth: depth + 1) } ?? false
        }
    case (UInt8(ascii: "["), UInt8(ascii: "[")):
      let (mine, theirs) = (elements(of: value), other.elements(of: otherValue))
      return mine.count == theirs.count && zip(mine, theirs).allSatisfy { isEqual($0, to: other, $1, depth: depth + 1) }
    case (UInt8(ascii: "\""), UInt8(ascii: "\"")): return string(value) == other.string(otherValue)
    default:
      guard let mine = number(value), let theirs = other.number(otherValue) else { return false }
      return mine == theirs
    }
  }

  private func number(_ value: Range<Int>) -> Double? {
    Double(String(decoding: source(value), as: UTF8.self))
  }
}
