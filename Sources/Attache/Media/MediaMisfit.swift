/// A value where a vendor's helper looks for a URL, or on the way to it, that has another type than the
/// helper reads, and that contains a URL.
///
/// It is a class, because most references have none, and copying a reference is expensive.
package final class MediaMisfit: Hashable, Sendable {
  /// The name of the row that reads the place.
  package let dialect: String
  /// The string that contains the URL.
  let text: UntrustedText
  /// The place of the value in the payload.
  package let place: JSONPointer
  /// What the value is, what the helper reads, and an example of that in JSON.
  private let (actual, expected, sample): (String, String, String)

  init(dialect: String, text: UntrustedText, place: JSONPointer, actual: String, expected: String, sample: String) {
    (self.dialect, self.text, self.place) = (dialect, text, place)
    (self.actual, self.expected, self.sample) = (actual, expected, sample)
  }

  /// What is wrong, and the right form: one printable sentence without a full stop.
  ///
  /// - Parameter written: where the sender wrote the value.
  package func sentence(at written: JSONPointer) -> String {
    let shown = PrintableText.of(UntrustedText(written.description))
    // An element of an array has no name.
    let name = written.tokens.last.flatMap { $0.index == nil ? "\"\(PrintableText.of(UntrustedText($0.text)))\": " : nil } ?? ""
    return "\(shown) is \(actual), but \(dialect) reads \(expected) there: write \(name)\(sample)"
  }

  package static func == (one: MediaMisfit, other: MediaMisfit) -> Bool {
    one.dialect == other.dialect && one.place == other.place && one.text == other.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(place)
  }
}
