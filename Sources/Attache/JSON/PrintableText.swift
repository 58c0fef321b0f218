/// Text of a payload as a terminal may show it.
package enum PrintableText {
  private static let maximumLength = 120

  /// The text with whatever steers a terminal, or the direction of writing, as `\u{…}`; cut after
  /// 120 characters.
  package static func of(_ text: String) -> String {
    var shown = ""
    var count = 0
    for scalar in text.unicodeScalars {
      guard count < maximumLength else { return shown + "…" }
      if isPrintable(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      }
      count += 1
    }
    return shown
  }

  /// The same of a stranger's text.
  static func of(_ text: UntrustedText) -> String {
    of(text.string)
  }

  static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value >= 0x20 }
    return !scalar.forgesText && !scalar.isUndefined && scalar.properties.generalCategory != .format
  }

  /// JSON in which the same characters are escaped, so that it may be shown as it is; what it says
  /// is the same. Line feeds and tabs can only stand between its tokens, and stay.
  package static func ofJSON(_ json: [UInt8]) -> [UInt8] {
    guard json.contains(where: { $0 >= 0x7F }) else { return json }
    var shown: [UInt8] = []
    shown.reserveCapacity(json.count)
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if isPrintable(scalar) || scalar == "\n" || scalar == "\t" {
        shown += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          shown += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
        }
      }
    }
    return shown
  }
}
