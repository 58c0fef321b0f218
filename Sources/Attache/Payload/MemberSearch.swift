/// Searches a line for the member that only attache should write, in each object that a push
/// service passes on and in each object along a payload path.
///
/// If several members have the same name, the search follows each: decoders differ in which they
/// use, and some merge them.
struct MemberSearch {
  /// The name of the member, compared exactly.
  let name: String
  /// Parses JSON in strings.
  let inner: JSONParser

  /// Returns whether a line without a top-level `aps` has the member at its top or in an object of
  /// any service. The form of the line does not matter, because a service ignores other services'
  /// members.
  func finds(inEnvelope text: JSONText) -> Bool {
    finds(in: text.root, of: text, along: MemberWays.services)
  }

  /// Returns whether an object along a path, or the object at its end, has the member.
  func finds(at path: JSONPointer, in text: JSONText) -> Bool {
    finds(in: text.root, of: text, at: path.tokens[...])
  }

  /// For an array, searches each of its elements.
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
    guard let bytes = text.string(value), let object = inner.parse(copying: bytes), object.isObject else { return false }
    if steps.isEmpty { return object.member(name) != nil }
    let text = JSONText(bytes)
    return finds(in: text.root, of: text, along: steps)
  }

  private func finds(in value: Range<Int>, of text: JSONText, at path: ArraySlice<JSONPointer.Token>) -> Bool {
    if text.isText(value) {
      guard let bytes = text.string(value), inner.parse(copying: bytes) != nil else { return false }
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

/// The members that lead from an object to the objects that services pass on.
struct MemberWays: Sendable {
  /// A member, and the members that continue from it.
  struct Step: Sendable {
    let name: FoldedName
    let ways: MemberWays

    init(_ name: FoldedName, _ steps: [Step] = [], inString: [Step]? = nil) {
      (self.name, ways) = (name, MemberWays(steps: steps, stepsInString: inString))
    }
  }

  /// The members of the object to follow.
  let steps: [Step]
  /// The members to follow if the object is in a string; nil if no service reads a string here.
  let stepsInString: [Step]?

  /// The members to follow from the top of a line, for all services.
  static let services = MemberWays(
    steps: [
      Step("message", [Step("apns", [Step("payload")]), Step("data")], inString: platforms),
      // FCM's object, or SNS's string.
      Step("apns", [Step("payload")], inString: []), Step("data"), Step("notifications", [Step("data")]),
    ] + platforms, stepsInString: nil)

  /// SNS's members, each with a payload in a string.
  private static let platforms = SNSEnvelope.names.map { Step(FoldedName($0), inString: []) }
}

/// A member name that is compared without regard to case, as in Go's encoding/json, which gorush
/// uses. Two characters outside ASCII are equal to an ASCII letter.
struct FoldedName: ExpressibleByStringLiteral, Sendable {
  private let bytes: [UInt8]

  init(_ name: String) {
    bytes = name.utf8.map(\.lowercasedASCII)
  }

  init(stringLiteral name: String) {
    self.init(name)
  }

  /// Returns whether a name equals this one.
  func matches(_ name: some Sequence<UInt8>) -> Bool {
    var length = 0
    var name = name.makeIterator()
    while let byte = name.next() {
      guard length < bytes.count else { return false }
      let letter = bytes[length]
      length += 1
      switch byte {
      // U+017F, the long s.
      case 0xC5: guard letter == UInt8(ascii: "s"), name.next() == 0xBF else { return false }
      // U+212A, the kelvin sign.
      case 0xE2: guard letter == UInt8(ascii: "k"), name.next() == 0x84, name.next() == 0xAA else { return false }
      default: guard byte.lowercasedASCII == letter else { return false }
      }
    }
    return length == bytes.count
  }
}

extension JSONText {
  /// Returns whether a member has that name, with or without escapes.
  func isNamed(_ member: Member, _ name: FoldedName) -> Bool {
    let written = member.name.withoutQuotes
    if name.matches(bytes[written]) { return true }
    return bytes[written].contains(UInt8(ascii: "\\")) && name.matches(JSONString.unescaped(bytes.span, written))
  }
}

extension JSONElement {
  /// Whether the object has a top-level member that ``MemberSearch`` follows, for a line of any
  /// form.
  var leadsToMember: Bool {
    unsafe !forEachChild { name, _ in
      !MemberWays.services.steps.contains { step in unsafe name.map { unsafe step.name.matches($0) } ?? false }
    }
  }
}
