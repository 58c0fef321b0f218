/// A slip in a text that stands for a URL. A text with one is refused, and never taken for the name of
/// an asset.
package enum URLMistake: Hashable {
  /// The text begins with `https` and neither `://` nor a host follow it: `https//:host`,
  /// `https:/host`, `https:///host`, `https://https://host`. `rest` is what follows.
  case beginning(rest: [UInt8])
  /// The URL is in quotation marks or brackets. It has the URL without them.
  case enclosed([UInt8])
  /// There is no scheme before the name of a host, as in `www.example.org/a.jpg`.
  case noScheme
  /// The text is a URL that contains the file (`data:`), or that only the page or the device that
  /// wrote it can read (`blob:`, `file:`). It has the scheme.
  case unreachable(String)
  /// The text is a file in base64.
  case base64

  /// Examines a text; nil if it is a URL, or anything else that is not meant as one.
  package init?(_ text: some Collection<UInt8>) {
    if let inner = Self.withoutMarks(text) {
      if let mistake = URLMistake(inner) {
        self = mistake
      } else if let (marks, _) = Self.split(inner.prefix(320).map(\.lowercasedASCII)[...]), marks.elementsEqual("://".utf8) {
        self = .enclosed(inner)
      } else {
        return nil
      }
      return
    }
    // Nothing beyond a host's length is examined.
    let bytes = text.prefix(320).map(\.lowercasedASCII)[...]
    if let rest = Self.afterBeginning(bytes) {
      self = .beginning(rest: Array(text.dropFirst(bytes.count - rest.count)))
    } else if let scheme = ["data", "blob", "file", "content"].first(where: { bytes.starts(with: ($0 + ":").utf8) }) {
      self = .unreachable(scheme)
    } else if Self.isBase64(text) {
      self = .base64
    } else if Self.beginsWithHost(bytes) {
      self = .noScheme
    } else {
      return nil
    }
  }

  /// The refusal of the text.
  func refusal(of text: ArraySlice<UInt8>) -> Refusal {
    // Shortened last: the first bytes of a long text may end within its password.
    let shown = URLDetail.short.text(of: text.prefix(URLGate.maximumBytes))
    let quoted = "'\(shown.prefix(80))\(shown.utf8.count > 80 ? "…" : "")'"
    switch self {
    case .beginning(let rest):
      let corrected = URLDetail.short.text(of: (Array("https://".utf8) + rest)[...])
      return Refusal(.policyURL, "\(quoted) does not begin as a URL does; write \(corrected)")
    case .enclosed(let url):
      let corrected = URLDetail.short.text(of: url[...])
      return Refusal(.policyURL, "\(quoted) is in quotation marks or brackets; write \(corrected)")
    case .noScheme: return Refusal(.policyScheme, "\(quoted) has no scheme; write https://…")
    case .unreachable("data"):
      return Refusal(.policyScheme, "\(quoted) contains the file itself (scheme 'data'); publish the file, and write its https URL")
    case .unreachable(let scheme):
      return Refusal(.policyScheme, "the scheme '\(scheme)' of \(quoted) leads to no server; publish the file, and write its https URL")
    case .base64: return Refusal(.policyScheme, "\(quoted) is the file itself in base64; publish the file, and write its https URL")
    }
  }

  /// The marks that surround a text in JSON, HTML, Markdown and prose, and white space.
  private static let marks = [
    "\"", "'", "`", "\\", "<", ">", "(", ")", "[", "]", "{", "}", "“", "”", "„", "‘", "’", "‚", "«", "»", "‹", "›", " ",
  ]
  .map { Array($0.utf8) }

  /// Returns a text without the marks before it and as many marks after it; nil if there is none
  /// before it.
  private static func withoutMarks(_ text: some Collection<UInt8>) -> [UInt8]? {
    // Most texts end here.
    guard let first = text.first, first > 0x20, !first.isLetterASCII, first != UInt8(ascii: "/") else { return nil }
    var bytes = Array(text)[...]
    var count = 0
    while let mark = marks.first(where: { bytes.starts(with: $0) }) {
      bytes = bytes.dropFirst(mark.count)
      count += 1
    }
    guard count > 0 else { return nil }
    // None of these is in a URL, and what follows may be more than a mark.
    bytes = bytes.prefix { $0 > 0x20 && !"\"<>\\`".utf8.contains($0) }
    while count > 0, let mark = marks.first(where: { bytes.reversed().starts(with: $0.reversed()) }) {
      bytes = bytes.dropLast(mark.count)
      count -= 1
    }
    return Array(bytes)
  }

  /// Returns what follows `http` or `https` and the wrong marks after it; nil if the beginning is
  /// right.
  private static func afterBeginning(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let (marks, rest) = split(bytes) else { return nil }
    guard marks.elementsEqual("://".utf8) else {
      return marks.contains { ":;".utf8.contains($0) } || marks.count { $0 != UInt8(ascii: " ") } > 1 ? rest : nil
    }
    // The scheme may be written twice.
    guard let (marks, host) = split(rest), marks.count > 1 else { return nil }
    return host
  }

  /// Splits a text that begins with `http` or `https` into the marks after it and the rest, which is
  /// not empty.
  private static func split(_ bytes: ArraySlice<UInt8>) -> (marks: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    guard bytes.starts(with: "http".utf8) else { return nil }
    let after = bytes.dropFirst(4)
    let marks = (after.first == UInt8(ascii: "s") ? after.dropFirst() : after).prefix { ":;/\\ ".utf8.contains($0) }
    let rest = bytes[marks.endIndex...]
    return marks.isEmpty || rest.isEmpty ? nil : (marks, rest)
  }

  /// Whether the text begins with `www.` or with a name of at least three labels, and a slash follows
  /// the name.
  private static func beginsWithHost(_ bytes: ArraySlice<UInt8>) -> Bool {
    let name = bytes.prefix { $0.isLetterASCII || $0.decimalDigit != nil || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard !labels.contains(where: \.isEmpty), labels.count > 2, labels.last?.allSatisfy(\.isLetterASCII) == true else { return false }
    return bytes.dropFirst(name.count).first == UInt8(ascii: "/") || labels[0].elementsEqual("www".utf8)
  }

  /// Whether the text is as long as a file's header, and begins as the base64 of a file does that is
  /// sent as media.
  static func isBase64(_ text: some Collection<UInt8>) -> Bool {
    let start = Array(text.lazy.filter { !$0.isJSONSpace }.prefix(24))
    guard start.count >= 16, start.allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil || "+/=-_".utf8.contains($0) }) else {
      return false
    }
    // PNG, JPEG, GIF, RIFF (WebP, WAVE, AVI), TIFF, ID3, Ogg, Matroska, SVG and XML, PDF.
    let beginnings = [
      "iVBORw0KGgo", "/9j/", "_9j_", "R0lGOD", "UklGR", "SUkqA", "TU0AK", "SUQz", "T2dnUw", "GkXfo", "PHN2Zy", "PD94bW", "JVBERi",
    ]
    // An MP3 begins with eleven bits that are set; two of the next five say layer III.
    let isSound = start[0] == UInt8(ascii: "/") && "/+".utf8.contains(start[1]) && "IJKLMNOPopqrstuv".utf8.contains(start[2])
    // After the four bytes of its length, an ISO file has `ftyp`.
    return isSound || beginnings.contains { start.starts(with: $0.utf8) }
      || start.starts(with: "AAAA".utf8) && start[6..<10].elementsEqual("Z0eX".utf8)
  }
}
