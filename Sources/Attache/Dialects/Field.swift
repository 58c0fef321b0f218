/// Where a dialect gives a property of a reference or of a button.
final class Field: Sendable {
  enum Origin: Sendable {
    /// A path inside the item: the element, the member or the object that contains the URL.
    case inside(DialectPath)
    /// A path from the top of the payload.
    case at(DialectPath)
    case text(String)
    case boolean(Bool)
    case number(Double)
    case rectangle(ClippingRect)
    /// The name of the member that `{}` matched.
    case key
    /// The index of the element that `[]` matched, plus this number.
    case index(Int)
    /// The last component of the URL's path.
    case file
    case url
    /// The file extension in the query item of the URL with this name.
    case query(String)
    /// Whether the item's text differs from the payload's text; no value unless both exist.
    case differs(DialectPath, from: DialectPath)
  }

  let origin: Origin
  /// Text to put before and after a text value.
  let prefix: String
  let suffix: String
  /// Conditions on the payload that must all hold.
  let when: [Condition]
  /// Whether the field reads the item and so gives nothing for a URL without an object.
  let isInside: Bool

  init(origin: Origin, prefix: String = "", suffix: String = "", when: [Condition] = []) {
    self.origin = origin
    self.prefix = prefix
    self.suffix = suffix
    self.when = when
    isInside = if case .inside = origin { true } else { false }
  }

  /// Whether the dialect itself gives the value, independent of the payload.
  var isFixed: Bool {
    switch origin {
    case .text, .number, .boolean, .rectangle: true
    case .inside, .at, .key, .index, .file, .url, .query, .differs: false
    }
  }

  /// Returns a text with the prefix and the suffix around it.
  func framed(_ text: UntrustedText) -> UntrustedText {
    prefix.isEmpty && suffix.isEmpty ? text : UntrustedText(prefix + text.string + suffix)
  }
}
