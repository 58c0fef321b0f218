extension UntrustedText {
  /// The URL that the text is read as. White space around it is no part of it, and one that begins
  /// with two slashes is https. In path, query and fragment of an http(s) URL, each character that
  /// RFC 3986 does not allow there is percent-encoded, as Apple's `URL(string:)` does since iOS 17.
  /// Control characters, backslashes and bytes beyond ASCII stay, for the URL gate.
  ///
  /// Source: https://developer.apple.com/documentation/foundation/url/init(string:encodinginvalidcharacters:)
  package var asURL: UntrustedText {
    guard needsReading else { return self }
    let trimmed = trimmed
    let bytes = Array(trimmed.utf8)
    let written = bytes.beginsWithHost ? Array("https:".utf8) + bytes : bytes
    var parts = URLReference(written[...])
    let scheme = parts.scheme?.map(\.lowercasedASCII) ?? []
    guard scheme.elementsEqual("https".utf8) || scheme.elementsEqual("http".utf8), parts.authority?.isEmpty == false else { return trimmed }
    parts.path = parts.path.encoded
    parts.query = parts.query?.encoded
    parts.fragment = parts.fragment?.encoded
    return UntrustedText(decoding: parts.bytes)
  }

  /// Whether this contains `://`, as every URL does that can be fetched.
  var hasAuthority: Bool {
    let slash = UInt8(ascii: "/")
    var bytes = utf8.makeIterator()
    while let byte = bytes.next() {
      if byte == UInt8(ascii: ":") { return bytes.next() == slash && bytes.next() == slash }
    }
    return false
  }

  /// Whether this contains `&amp;`. That is a valid URL, but mostly one that was copied from HTML.
  var isEscapedForHTML: Bool {
    Array(utf8).firstRange(of: Array("&amp;".utf8)) != nil
  }

  /// Whether this is a URL with an authority, or a text that stands for one and is none.
  var isMeantAsURL: Bool { hasAuthority || URLMistake(utf8) != nil }

  /// Whether ``asURL`` may differ from the text.
  private var needsReading: Bool {
    let bytes = string.utf8Span.span
    guard !bytes.isEmpty else { return false }
    if bytes[0] == UInt8(ascii: "/") || bytes[0] >= 0x80 || bytes[bytes.count - 1] >= 0x80 { return true }
    for index in bytes.indices where bytes[index].needsReading { return true }
    return false
  }

  /// The text without white space at both ends.
  private var trimmed: UntrustedText {
    var scalars = Substring(string).unicodeScalars
    while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
    while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
    return UntrustedText(String(scalars))
  }
}

extension UInt8 {
  /// Whether a URL with this byte must be read: white space, a mark that a URL may not contain, or a
  /// percent sign, which may begin no escape.
  fileprivate var needsReading: Bool {
    let marks = self < 64 ? Self.lowMarks : Self.highMarks
    return marks >> UInt64(self & 63) & 1 == 1 && self < 0x80
  }

  /// A bit for each such byte: up to the space and `"%<>`, and from 64 on ``[]^`{|}``.
  private static var lowMarks: UInt64 { 0x5000_0025_FFFF_FFFF }
  private static var highMarks: UInt64 { 0x3800_0001_6800_0000 }

  /// Whether this is a printable ASCII character that RFC 3986 allows nowhere, except the backslash.
  fileprivate var isMark: Bool {
    switch self {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"),
      UInt8(ascii: "|"),
      UInt8(ascii: "}"):
      true
    default: false
    }
  }
}

extension [UInt8] {
  /// Whether these are two slashes and a host, as in a URL that takes the scheme of its page.
  fileprivate var beginsWithHost: Bool {
    guard starts(with: "//".utf8), let first = dropFirst(2).first else { return false }
    // The base64 of a file may begin with two slashes.
    return (first.isLetterASCII || first.decimalDigit != nil || first == UInt8(ascii: "[") || first >= 0x80) && !URLMistake.isBase64(self)
  }
}

extension ArraySlice<UInt8> {
  /// A path, query or fragment with the characters percent-encoded that may not be in it.
  fileprivate var encoded: ArraySlice<UInt8> {
    var encoded: [UInt8] = []
    for index in indices {
      let byte = self[index]
      switch byte {
      case UInt8(ascii: "%"):
        let digits = self[(index + 1)...].prefix(2)
        let isEscape = digits.count == 2 && digits.allSatisfy { $0.hexadecimalDigit != nil }
        encoded += (isEscape ? "%" : "%25").utf8
      case UInt8(ascii: " "), UInt8(ascii: "["), UInt8(ascii: "]"):
        encoded += "%\(String(byte, radix: 16, uppercase: true))".utf8
      default:
        if byte.isMark { encoded += "%\(String(byte, radix: 16, uppercase: true))".utf8 } else { encoded.append(byte) }
      }
    }
    return encoded[...]
  }
}
