/// A part of a scenario's text that is replaced when the scenario runs: `{{name}}`.
struct Placeholder {
  /// The text between the braces.
  let name: String

  /// Returns all placeholders of a text, in order.
  static func all(in text: String) -> [Placeholder] {
    var found: [Placeholder] = []
    _ = fill(text) { placeholder in
      found.append(placeholder)
      return nil
    }
    return found
  }

  /// Returns the text with its placeholders replaced. A placeholder without a value stays
  /// unchanged.
  static func fill(_ text: String, with value: (Placeholder) -> String?) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
      let inside = rest[start.upperBound..<end.lowerBound]
      // JSON also has such braces: `{"a":{{"…` is not a placeholder, and neither are nested
      // braces.
      guard isName(inside) else {
        result += rest[..<start.upperBound].dropLast()
        rest = rest[start.upperBound...].isEmpty ? "" : rest[rest.index(before: start.upperBound)...]
        continue
      }
      result += rest[..<start.lowerBound]
      result += value(Placeholder(name: String(inside))) ?? "{{\(inside)}}"
      rest = rest[end.upperBound...]
    }
    return result + rest
  }

  /// Returns the text with everything that looks like a placeholder escaped, so that filling it in
  /// restores it.
  static func escaped(_ text: String) -> String {
    fill(text) { "{{\(braces)}}\($0.name)}}" }
  }

  /// The name of the placeholder for two opening braces.
  static let braces = "braces"

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_. ".contains($0)) }
  }

  /// The maximum number of letters; no real payload has more.
  static let maximumPadding = 64 << 20

  /// The number of letters of `pad N`; nil for a number below 0 or above ``maximumPadding``.
  var padding: Int? {
    guard name.hasPrefix("pad "), let count = Int(name.dropFirst(4)) else { return nil }
    return 0...Self.maximumPadding ~= count ? count : nil
  }

  /// Returns the size of a text in bytes after its letters are filled in.
  static func filledSize(of text: String) -> Int {
    all(in: text).reduce(text.utf8.count) { size, placeholder in
      let (sum, overflows) = size.addingReportingOverflow(placeholder.padding ?? 0)
      return overflows ? .max : sum
    }
  }

  func isKnown(origins: [String]) -> Bool {
    if name == "n" || name == Self.braces || padding != nil { return true }
    if name == "port" { return origins.contains("origin") }
    return origins.contains { name == $0 || name == "\($0).port" }
  }

  /// Returns the text with a valid example for each placeholder, to check that it can be parsed.
  static func withExamples(_ text: String) -> String {
    fill(text) { placeholder in
      if placeholder.name == "n" || placeholder.name.hasSuffix("port") { return "1" }
      return placeholder.padding.map { String(repeating: "x", count: min($0, 8)) } ?? "http://127.0.0.1:1"
    }
  }
}
