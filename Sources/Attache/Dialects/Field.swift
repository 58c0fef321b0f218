/// Where a dialect says something about a reference or a button.
struct Field: Sendable {
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

  var origin: Origin
  /// Written around a text.
  var prefix = ""
  var suffix = ""
  /// Counted from the payload; all of them must hold.
  var when: [Condition] = []
}
