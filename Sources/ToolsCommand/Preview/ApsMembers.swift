import Attache

/// Members of `aps` that decide how a notification is shown.
struct ApsMembers {
  var level: String?
  var relevance: Double?
  var titleIsKey = false
  var subtitleIsKey = false
  var bodyIsKey = false

  /// The maximum number of objects and arrays around `aps`. No push service's envelope has so many.
  private static let maximumDepth = 8
  /// The maximum number of strings that are read as JSON. An envelope has one or two.
  private static let maximumTexts = 16

  private var texts = 0

  init() {}

  /// Reads the first `aps` of a line, in the line or in an envelope.
  init(in line: JSONElement) {
    _ = read(line, depth: 0)
  }

  private mutating func read(_ value: JSONElement, depth: Int) -> Bool {
    guard depth < Self.maximumDepth else { return false }
    if let aps = value.isObject ? value.member("aps") : nil, aps.isObject {
      take(aps)
      return true
    }
    var isFound = false
    if value.isObject { value.forEachMember { if !isFound { isFound = read($1, depth: depth + 1) } } }
    if value.isArray { value.forEachElement { if !isFound { isFound = read($0, depth: depth + 1) } } }
    if !isFound, texts < Self.maximumTexts, let text = value.text, text.utf8.first == UInt8(ascii: "{") {
      texts += 1
      let parser = JSONParser()
      if let inner = parser.parse(copying: Array(text.utf8)) { isFound = read(inner, depth: depth + 1) }
    }
    return isFound
  }

  private mutating func take(_ aps: JSONElement) {
    level = aps.member("interruption-level")?.text?.string
    relevance = aps.member("relevance-score")?.number
    guard let alert = aps.member("alert"), alert.isObject else { return }
    func isKey(_ text: String, _ key: String) -> Bool { alert.member(text)?.isText != true && alert.member(key)?.isText == true }
    (titleIsKey, subtitleIsKey) = (isKey("title", "title-loc-key"), isKey("subtitle", "subtitle-loc-key"))
    bodyIsKey = isKey("body", "loc-key")
  }
}
