public import Attache
internal import AttacheQueue

/// Where the body of a 2xx response says whether the service has accepted the payload.
///
/// Some services answer 200 whatever they think of a payload, and say in a JSON body what they have
/// refused: Expo's with an error for each message, OneSignal's with a list of errors.
public struct HTTPAcceptance: Sendable {
  /// The value that an accepted payload has: present, and neither null, false, 0 nor empty. A part `*`
  /// means each element of an array.
  public var accepted: JSONPointer
  /// The value that says why something was refused. Its part `*` is the element of ``accepted``.
  public var error: JSONPointer?
  /// The errors that may pass. They are compared byte by byte.
  public var retried: [String] = []

  /// Creates a rule without errors that may pass.
  public init(accepted: JSONPointer, error: JSONPointer? = nil) {
    (self.accepted, self.error) = (accepted, error)
  }

  /// The maximum length of a body that is read, in bytes.
  static let maximumLength = 1 << 20
  /// The maximum number of refused elements that an answer names, and of the errors that are read of
  /// each.
  private static let maximumNamed = 20
  /// The maximum number of errors that an answer names of one element.
  private static let maximumShown = 3

  /// What the service says of one element, or of the whole payload.
  private struct Element {
    var isAccepted: Bool
    var causes: [String]

    /// The first causes, for messages; nil if there is none.
    var error: String? {
      causes.isEmpty ? nil : causes.prefix(HTTPAcceptance.maximumShown).map { PrintableText.of($0) }.joined(separator: ", ")
    }
  }

  /// Returns the answer for a 2xx response.
  ///
  /// - Parameters:
  ///   - retryAfter: the value of the field Retry-After; nil without the field.
  ///   - excerpt: the beginning of the body, for messages.
  func answer(status: Int, retryAfter: Duration?, body: [UInt8], excerpt: String, _ parser: JSONParser) -> DeliveryAnswer {
    guard body.count <= Self.maximumLength else {
      return .partlyDelivered(status: "status \(status), not read: the body is longer than \(Self.maximumLength) bytes")
    }
    let elements = parser.parse(copying: body).map(elements) ?? []
    let refused = elements.indices.filter { !elements[$0].isAccepted || elements[$0].error != nil }
    if !elements.isEmpty, refused.isEmpty { return .delivered(status: "\(status)") }
    let errors = refused.compactMap { elements[$0].error }
    guard elements.allSatisfy({ !$0.isAccepted }) else {
      let named = refused.prefix(Self.maximumNamed).map { index in
        let error = elements[index].error ?? "no reason"
        return elements.count == 1 ? error : "\(index + 1) \(error)"
      }
      let more = refused.count > named.count ? ", and \(refused.count - named.count) more" : ""
      return .partlyDelivered(
        status: "status \(status), \(refused.count) of \(elements.count) refused: \(named.joined(separator: ", "))\(more)")
    }
    guard let first = errors.first else {
      let body = excerpt.isEmpty ? "the body is empty" : excerpt
      return .rejected(reason: "status \(status) without \(accepted) (--http-ok): \(body)")
    }
    let text = "status \(status) with \(first)"
    let causes = Set(refused.lazy.flatMap { elements[$0].causes }.map { Array($0.utf8) })
    let mayPass = retried.contains { causes.contains(Array($0.utf8)) }
    return mayPass ? .retry(after: retryAfter, reason: text) : .dropped(reason: text)
  }

  /// What the body says of each element; of the whole payload if ``accepted`` names no element.
  private func elements(_ root: JSONElement) -> [Element] {
    let (place, suffix) = Self.split(accepted.parts)
    let (errorPlace, errorSuffix) = Self.split(error?.parts ?? [])
    let shared = error != nil && errorSuffix == nil ? Self.causes(root.value(at: errorPlace)) : []
    guard let suffix else { return [Element(isAccepted: Self.isTrue(root.value(at: place)), causes: shared)] }
    guard let array = root.value(at: place), array.isArray else { return [] }
    var elements: [Element] = []
    array.forEachElement { element in
      let causes = errorSuffix.map { Self.causes(element.value(at: $0)) } ?? shared
      elements.append(Element(isAccepted: Self.isTrue(element.value(at: suffix)), causes: causes))
    }
    return elements
  }

  /// The parts before and after the part `*`; the second are nil without it.
  private static func split(_ parts: [String]) -> ([String], [String]?) {
    guard let star = parts.firstIndex(where: { $0.utf8.elementsEqual("*".utf8) }) else { return (parts, nil) }
    return (Array(parts[..<star]), Array(parts[(star + 1)...]))
  }

  private static func isTrue(_ value: JSONElement?) -> Bool {
    guard let value, !value.isNull else { return false }
    if value.isString { return value.isText }
    return value.boolean ?? value.number.map { $0 != 0 } ?? !children(of: value).isEmpty
  }

  /// The texts of an error: itself, the elements of an array, or the names of an object's members.
  private static func causes(_ value: JSONElement?) -> [String] {
    guard let value, isTrue(value) else { return [] }
    if value.isObject || value.isArray { return children(of: value) }
    return [value.text?.string ?? value.number.map { "\($0)" } ?? "true"]
  }

  private static func children(of value: JSONElement) -> [String] {
    var texts: [String] = []
    value.forEachMember { name, _ in if texts.count < maximumNamed { texts.append(name.string) } }
    value.forEachElement { element in if texts.count < maximumNamed { texts.append(element.text?.string ?? element.typeName) } }
    return texts
  }
}
