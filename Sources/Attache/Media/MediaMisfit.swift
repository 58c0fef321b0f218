/// A value with a URL where a vendor's helper looks for one, or on the way to it, that the helper does not read: it has another
/// type, or, with `--strict-dialects`, the helper needs more.
///
/// It is a class, because most references have none, and copying a reference is expensive.
package final class MediaMisfit: Hashable, Sendable {
  /// The name of the row that reads the place.
  package let dialect: String
  /// The string that contains the URL.
  let text: UntrustedText
  /// The place of the value in the payload.
  package let place: JSONPointer
  private let fault: Fault

  /// Why the helper does not read the value.
  enum Fault {
    /// What the value is, what the helper reads, and an example of that in JSON.
    case type(actual: String, expected: String, sample: String)
    /// The helper loads nothing without a type hint.
    case noHint
    /// The helper loads nothing by plain http.
    case plainHTTP
  }

  init(dialect: String, text: UntrustedText, place: JSONPointer, _ fault: Fault) {
    (self.dialect, self.text, self.place, self.fault) = (dialect, text, place, fault)
  }

  /// What is wrong, and the right form: one printable sentence without a full stop.
  ///
  /// - Parameter written: where the sender wrote the value.
  package func sentence(at written: JSONPointer) -> String {
    let shown = PrintableText.of(UntrustedText(written.description))
    switch fault {
    case .type(let actual, let expected, let sample):
      // An element of an array has no name.
      let name = written.tokens.last.flatMap { $0.index == nil ? "\"\(PrintableText.of(UntrustedText($0.text)))\": " : nil } ?? ""
      return "\(shown) is \(actual), but \(dialect) reads \(expected) there: write \(name)\(sample)"
    case .noHint:
      return "--strict-dialects: the URL at \(shown) has no type hint, without which the helper of \(dialect) loads nothing; add the hint"
    case .plainHTTP:
      return "--strict-dialects: the URL at \(shown) is not https, so the helper of \(dialect) does not load it; serve the media over https"
    }
  }

  package static func == (one: MediaMisfit, other: MediaMisfit) -> Bool {
    one.dialect == other.dialect && one.place == other.place && one.text == other.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(place)
  }
}
