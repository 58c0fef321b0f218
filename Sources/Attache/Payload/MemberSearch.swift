/// Searches a line for a member that attache alone is to write, in each object that a push service
/// hands on, or that a payload path leads through.
///
/// Of several members with one name each is followed: decoders differ in which they take, and some
/// join them.
struct MemberSearch {
  /// The name of the member, compared exactly.
  let name: String
  /// Parses what stands in strings.
  let inner: InnerParser

  /// Whether a line without `aps` at its top has the member at its top, or in an object of any
  /// service. The line's own form does not matter: a service ignores what another one's form has.
  func finds(inEnvelope text: JSONText) -> Bool {
    finds(in: text.root, of: text, along: .services)
  }

  /// Whether an object on a path has the member, or the object at its end.
  func finds(at path: JSONPointer, in text: JSONText) -> Bool {
    finds(in: text.root, of: text, at: path.tokens[...])
  }

  /// An array stands for each of its elements.
  private func finds(in value: Range<Int>, of text: JSONText, along ways: MemberWays) -> Bool {
    if text.isArray(value) { return text.elements(of: value).contains { text.isObject($0) && finds(in: $0, of: text, along: ways) } }
    if let steps = ways.stepsInString, text.isText(value) { return finds(inString: value, of: text, along: steps) }
    return finds(in: value, of: text, along: ways.steps)
  }

  private func finds(in object: Range<Int>, of text: JSONText, along steps: [MemberWays.Step]) -> Bool {
    text.members(of: object).contains { member in
      if text.isNamed(member, name) { return true }
      guard let step = steps.first(where: { text.isNamed(member, $0.name) }) else { return false }
      return finds(in: member.value, of: text, along: step.ways)
    }
  }

  private func finds(inString value: Range<Int>, of text: JSONText, along steps: [MemberWays.Step]) -> Bool {
    guard let bytes = text.string(value), let object = inner.parse(bytes), object.isObject else { return false }
    if steps.isEmpty { return object.member(name) != nil }
    let text = JSONText(bytes)
    return finds(in: text.root, of: text, along: steps)
  }

  private func finds(in value: Range<Int>, of text: JSONText, at path: ArraySlice<JSONPointer.Token>) -> Bool {
    if text.isText(value) {
      guard let bytes = text.string(value), inner.parse(bytes) != nil else { return false }
      let text = JSONText(bytes)
      return !text.isText(text.root) && finds(in: text.root, of: text, at: path)
    }
    if text.isArray(value) {
      guard let index = path.first?.index else { return false }
      let elements = text.elements(of: value)
      return elements.indices.contains(index) && finds(in: elements[index], of: text, at: path.dropFirst())
    }
    return text.members(of: value).contains { member in
      if text.isNamed(member, name) { return true }
      guard let next = path.first, text.isNamed(member, next.text) else { return false }
      return finds(in: member.value, of: text, at: path.dropFirst())
    }
  }
}

/// The members that lead from an object to those that services hand on.
struct MemberWays: Sendable {
  /// A member, and what leads on from it.
  struct Step: Sendable {
    let name: FoldedName
    let ways: MemberWays

    init(_ name: FoldedName, _ steps: [Step] = [], inString: [Step]? = nil) {
      (self.name, ways) = (name, MemberWays(steps: steps, stepsInString: inString))
    }
  }

  /// The members of an object that lead on.
  let steps: [Step]
  /// The same where the object stands in a string; nil where no service reads a string.
  let stepsInString: [Step]?

  /// From the top of a line, of every service.
  static let services = MemberWays(
    steps: [
      Step("message", [Step("apns", [Step("payload")]), Step("data")], inString: platforms),
      // FCM's object, or SNS's string.
      Step("apns", [Step("payload")], inString: []), Step("data"), Step("notifications", [Step("data")]),
    ] + platforms, stepsInString: nil)

  /// SNS's, each with a payload in a string.
  private static let platforms = SNSEnvelope.names.map { Step(FoldedName($0), inString: []) }
}

/// A member's name as Go's encoding/json compares it, by which gorush reads: without regard to
/// case. Two characters beyond ASCII count as letters of it.
struct FoldedName: ExpressibleByStringLiteral, Sendable {
  private let bytes: [UInt8]

  init(_ name: String) {
    bytes = name.utf8.map(\.lowercasedASCII)
  }

  init(stringLiteral name: String) {
    self.init(name)
  }

  /// Whether a name is this one.
  func matches(_ name: some Sequence<UInt8>) -> Bool {
    var rest = bytes[...]
    var name = name.makeIterator()
    while let byte = name.next() {
      guard let letter = rest.popFirst() else { return false }
      switch byte {
      // U+017F, the long s.
      case 0xC5: guard letter == UInt8(ascii: "s"), name.next() == 0xBF else { return false }
      // U+212A, the sign of the kelvin.
      case 0xE2: guard letter == UInt8(ascii: "k"), name.next() == 0x84, name.next() == 0xAA else { return false }
      default: guard byte.lowercasedASCII == letter else { return false }
      }
    }
    return rest.isEmpty
  }
}

extension JSONText {
  /// Whether a member has that name, however it is written.
  func isNamed(_ member: Member, _ name: FoldedName) -> Bool {
    let written = member.name.withoutQuotes
    if name.matches(bytes[written]) { return true }
    return bytes[written].contains(UInt8(ascii: "\\")) && name.matches(JSONString.unescaped(bytes.span, written))
  }
}

extension JSONElement {
  /// Whether an object has a member that leads to one that attache alone is to write
  /// (``MemberSearch``), whatever the line's form.
  var leadsToMember: Bool {
    unsafe hasMember { name in MemberWays.services.steps.contains { unsafe $0.name.matches(name) } }
  }
}
