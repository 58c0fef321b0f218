/// A reader of RFC 8259's grammar that shares nothing with the filter's: slow, strict, and of no
/// depth limit.
struct JSONReference {
  /// A value: where it stands, and for an object or an array what is in it.
  private struct Node {
    var start: Int
    var end = 0
    var isObject = false
    var members: [(name: [UInt8], value: Int)] = []
  }

  private struct Failure: Error {}

  private let bytes: [UInt8]
  private var index: Int
  private var nodes: [Node] = []

  /// Nil when the line, less a byte order mark and white space, is no JSON.
  init?(_ line: [UInt8]) {
    bytes = line
    index = line.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard String(validating: line, as: UTF8.self) != nil else { return nil }
    do {
      try readDocument()
    } catch {
      return nil
    }
  }

  static func isBlank(_ line: [UInt8]) -> Bool {
    let rest = line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line[...]
    return rest.allSatisfy(isSpace)
  }

  var isObject: Bool { nodes[0].isObject }

  func range(of node: Int) -> Range<Int> { nodes[node].start..<nodes[node].end }

  func members(of node: Int) -> [(name: [UInt8], value: Int)] { nodes[node].members }

  func text(of node: Int) -> String { String(decoding: bytes[range(of: node)], as: UTF8.self) }

  /// The bytes without those of strings and numbers that are values.
  var skeleton: [UInt8] {
    var rest: [UInt8] = []
    var index = 0
    for node in nodes where "\"-0123456789".utf8.contains(bytes[node.start]) {
      rest += bytes[index..<node.start] + [0]
      index = node.end
    }
    return rest + bytes[index...]
  }

  /// The last member of that name.
  func member(_ name: String, of node: Int) -> Int? {
    nodes[node].isObject ? nodes[node].members.last { $0.name == Array(name.utf8) }?.value : nil
  }

  /// The object at a path of member names, which are indices in an array; nil when there is none.
  func find(_ path: [String]) -> Int? {
    var node = 0
    for name in path {
      guard let child = nodes[node].isObject ? member(name, of: node) : element(name, of: node) else { return nil }
      node = child
    }
    return nodes[node].isObject ? node : nil
  }

  /// Whether an object that a path of member names leads through, or the one at its end, has a
  /// member of that name; of several members of one name on the path each is followed.
  func holds(_ name: String, along path: ArraySlice<String>, from node: Int = 0) -> Bool {
    guard nodes[node].isObject else {
      return path.first.flatMap { element($0, of: node) }.map { holds(name, along: path.dropFirst(), from: $0) } ?? false
    }
    return nodes[node].members.contains { member in
      if member.name == Array(name.utf8) { return true }
      guard let next = path.first, member.name == Array(next.utf8) else { return false }
      return holds(name, along: path.dropFirst(), from: member.value)
    }
  }

  private func element(_ name: String, of node: Int) -> Int? {
    guard let index = Int(name), nodes[node].members.indices.contains(index) else { return nil }
    return nodes[node].members[index].value
  }

  // MARK: Reading

  private mutating func readDocument() throws {
    var open: [Int] = []
    var name: [UInt8] = []
    skipSpace()
    repeat {
      let node = nodes.count
      nodes.append(Node(start: index))
      if let parent = open.last { nodes[parent].members.append((name, node)) }
      let isContainer = try readValue(node)
      if isContainer { open.append(node) }
      var isFirst = isContainer
      // Closes what ends here; what goes on has a further value.
      while let parent = open.last {
        skipSpace()
        let close = UInt8(ascii: nodes[parent].isObject ? "}" : "]")
        if peek == close {
          index += 1
          nodes[parent].end = index
          open.removeLast()
          isFirst = false
          continue
        }
        if !isFirst { try take(UInt8(ascii: ",")) }
        skipSpace()
        name = nodes[parent].isObject ? try readName() : []
        break
      }
    } while !open.isEmpty
    skipSpace()
    guard index == bytes.count else { throw Failure() }
  }

  /// Reads a value without parts, or what opens a container; says whether it is one.
  private mutating func readValue(_ node: Int) throws -> Bool {
    switch peek {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      nodes[node].isObject = peek == UInt8(ascii: "{")
      index += 1
      return true
    case UInt8(ascii: "\""): _ = try readString()
    case UInt8(ascii: "t"): try take("true")
    case UInt8(ascii: "f"): try take("false")
    case UInt8(ascii: "n"): try take("null")
    default: try readNumber()
    }
    nodes[node].end = index
    return false
  }

  private mutating func readName() throws -> [UInt8] {
    let name = try readString()
    skipSpace()
    try take(UInt8(ascii: ":"))
    skipSpace()
    return name
  }

  /// The string, unescaped; of a surrogate without its other half nothing is left.
  private mutating func readString() throws -> [UInt8] {
    try take(UInt8(ascii: "\""))
    var units: [UInt8] = []
    var high: UInt16?
    while let byte = peek, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw Failure() }
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        units.append(byte)
        high = nil
        continue
      }
      let unit = try readEscape()
      if let first = high, (0xDC00...0xDFFF).contains(unit) {
        units += String(decoding: [first, unit], as: UTF16.self).utf8
      } else if !(0xD800...0xDFFF).contains(unit) {
        units += String(decoding: [unit], as: UTF16.self).utf8
      }
      high = (0xD800...0xDBFF).contains(unit) ? unit : nil
    }
    try take(UInt8(ascii: "\""))
    return units
  }

  private mutating func readEscape() throws -> UInt16 {
    guard let letter = peek else { throw Failure() }
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(letter)
    case UInt8(ascii: "b"): return 8
    case UInt8(ascii: "f"): return 12
    case UInt8(ascii: "n"): return 10
    case UInt8(ascii: "r"): return 13
    case UInt8(ascii: "t"): return 9
    case UInt8(ascii: "u"): break
    default: throw Failure()
    }
    let digits = bytes[index...].prefix(4)
    index += digits.count
    let text = String(decoding: digits, as: UTF8.self)
    guard digits.count == 4, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let unit = UInt16(text, radix: 16)
    else { throw Failure() }
    return unit
  }

  private mutating func readNumber() throws {
    if peek == UInt8(ascii: "-") { index += 1 }
    if peek == UInt8(ascii: "0") { index += 1 } else { try readDigits() }
    if peek == UInt8(ascii: ".") {
      index += 1
      try readDigits()
    }
    guard peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") else { return }
    index += 1
    if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
    try readDigits()
  }

  private mutating func readDigits() throws {
    let count = bytes[index...].prefix { (0x30...0x39).contains($0) }.count
    guard count > 0 else { throw Failure() }
    index += count
  }

  private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func take(_ byte: UInt8) throws {
    guard peek == byte else { throw Failure() }
    index += 1
  }

  private mutating func take(_ word: String) throws {
    guard bytes[index...].starts(with: word.utf8) else { throw Failure() }
    index += word.utf8.count
  }

  private mutating func skipSpace() {
    while let byte = peek, Self.isSpace(byte) { index += 1 }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D
  }
}
