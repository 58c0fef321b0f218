/// Where a dialect says something about a reference or a button.
final class Field: Sendable {
  enum Origin: Sendable {
    /// A place in the item: the element, the member or the object that has the URL.
    case inside(DialectPath)
    /// A place in the payload.
    case at(DialectPath)
    case text(String)
    case boolean(Bool)
    case number(Double)
    case rectangle(ClippingRect)
    /// The name of the map's member.
    case key
    /// The place in the array, counted from this number.
    case index(Int)
    /// The last part of the URL's path.
    case file
    case url
    /// The file extension of that item of the URL's query.
    case query(String)
    /// Whether the item's text is another than the payload's; nothing unless both are there.
    case differs(DialectPath, from: DialectPath)
  }

  let origin: Origin
  /// Written around a text.
  let prefix: String
  let suffix: String
  /// Counted from the payload; all of them must hold.
  let when: [Condition]
  /// Whether there is nothing to read when a URL stands by itself.
  let isInside: Bool

  init(origin: Origin, prefix: String = "", suffix: String = "", when: [Condition] = []) {
    self.origin = origin
    self.prefix = prefix
    self.suffix = suffix
    self.when = when
    isInside = if case .inside = origin { true } else { false }
  }

  /// Whether this is the dialect's own word, whatever the payload says.
  var isFixed: Bool {
    switch origin {
    case .text, .number, .boolean, .rectangle: true
    default: false
    }
  }

  /// A text as the field writes it.
  func framed(_ text: UntrustedText) -> UntrustedText {
    prefix.isEmpty && suffix.isEmpty ? text : UntrustedText(prefix + text.string + suffix)
  }
}
