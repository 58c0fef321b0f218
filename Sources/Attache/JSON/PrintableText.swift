/// Makes text from a payload safe to show on a terminal.
package enum PrintableText {
  /// Returns the text with `\u{…}` in place of characters that control a terminal or the
  /// direction of writing, cut after `maximumLength` characters.
  package static func of(_ text: String, maximumLength: Int = 120) -> String {
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

  /// Does the same for an untrusted text.
  package static func of(_ text: UntrustedText) -> String {
    of(text.string)
  }

  package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value >= 0x20 }
    return !scalar.forgesText && !scalar.isUndefined && scalar.properties.generalCategory != .format
  }

  /// Returns equivalent JSON in which the same characters are escaped, so that it is safe to show.
  /// Line feeds and tabs can only occur between tokens, and remain.
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
