/// A part of a scenario's text that is filled in when it runs: `{{name}}`.
struct Placeholder {
  /// What stands between the braces.
  let name: String

  /// Every placeholder of a text, in its order.
  static func all(in text: String) -> [Placeholder] {
    var found: [Placeholder] = []
    _ = fill(text) { placeholder in
      found.append(placeholder)
      return nil
    }
    return found
  }

  /// The text with its placeholders replaced; one for which there is nothing stays as it is.
  static func fill(_ text: String, with value: (Placeholder) -> String?) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
      let inside = rest[start.upperBound..<end.lowerBound]
      // JSON has braces of its own: `{"a":{{"…` is none, nor is what nests.
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

  /// The text with what looks like a placeholder written so that it stays what it is.
  static func escaped(_ text: String) -> String {
    fill(text) { "{{\(braces)}}\($0.name)}}" }
  }

  /// Stands for two opening braces.
  static let braces = "braces"

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_. ".contains($0)) }
  }

  /// More letters than this are nobody's payload.
  static let maximumPadding = 64 << 20

  /// The number of letters of `pad N`; nil for a number below 0 or above ``maximumPadding``.
  var padding: Int? {
    guard name.hasPrefix("pad "), let count = Int(name.dropFirst(4)) else { return nil }
    return 0...Self.maximumPadding ~= count ? count : nil
  }

  /// The size of a text in bytes when its letters are filled in.
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

  /// The text with something of the right form in every place, to see whether it can be read.
  static func withExamples(_ text: String) -> String {
    fill(text) { placeholder in
      if placeholder.name == "n" || placeholder.name.hasSuffix("port") { return "1" }
      return placeholder.padding.map { String(repeating: "x", count: min($0, 8)) } ?? "http://127.0.0.1:1"
    }
  }
}
