/// A URL or a relative reference, split into the five parts of RFC 3986, appendix B. Nothing is
/// checked or decoded.
package struct URLReference {
  /// The scheme without its colon. It contains only what RFC 3986 allows in a scheme.
  package var scheme: ArraySlice<UInt8>?
  /// The authority without its two slashes.
  package var authority: ArraySlice<UInt8>?
  package var path: ArraySlice<UInt8>
  /// The query without its question mark.
  var query: ArraySlice<UInt8>?
  /// The fragment without its number sign.
  var fragment: ArraySlice<UInt8>?

  /// Splits bytes into parts. Any bytes can be split.
  package init(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
    query = Self.cut(&rest, at: UInt8(ascii: "?"))
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
      scheme = rest[..<colon]
      rest = rest[(colon + 1)...]
    }
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = rest[..<end]
      rest = rest[end...]
    }
    path = rest
  }

  /// Removes the first `separator` and all that follows, and returns what follows it.
  private static func cut(_ bytes: inout ArraySlice<UInt8>, at separator: UInt8) -> ArraySlice<UInt8>? {
    guard let index = bytes.firstIndex(of: separator) else { return nil }
    defer { bytes = bytes[..<index] }
    return bytes[(index + 1)...]
  }

  private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, first.isLetterASCII else { return false }
    return bytes.allSatisfy { $0.isLetterASCII || $0.decimalDigit != nil || "+-.".utf8.contains($0) }
  }
}

extension URLReference {
  /// Returns the absolute URL of the reference, resolved against an absolute URL with an authority
  /// (RFC 3986, 5.2.2, strict).
  func resolved(against base: URLReference) -> URLReference {
    var target = self
    if scheme == nil {
      target.scheme = base.scheme
      if authority == nil {
        target.authority = base.authority
        target.path = path.isEmpty ? base.path : merged(with: base)
        if path.isEmpty { target.query = query ?? base.query }
        if path.isEmpty { return target }
      }
    }
    target.path = Self.removingDotSegments(target.path)
    return target
  }

  /// The bytes of the whole reference (RFC 3986, 5.3).
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    if let scheme { bytes += scheme + ":".utf8 }
    if let authority { bytes += "//".utf8 + authority }
    bytes += path
    if let query { bytes += "?".utf8 + query }
    if let fragment { bytes += "#".utf8 + fragment }
    return bytes
  }

  /// Returns the path; a relative one replaces the last segment of the base's path (RFC 3986,
  /// 5.2.3).
  private func merged(with base: URLReference) -> ArraySlice<UInt8> {
    if path.first == UInt8(ascii: "/") { return path }
    guard let slash = base.path.lastIndex(of: UInt8(ascii: "/")) else { return "/".utf8 + path }
    return base.path[...slash] + path
  }

  /// Removes dot segments (RFC 3986, 5.2.4).
  private static func removingDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard path.first == UInt8(ascii: "/") else { return path }
    let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    var kept: [ArraySlice<UInt8>] = []
    for (index, segment) in segments.enumerated() {
      let isDots = segment.elementsEqual("..".utf8)
      let isDot = segment.elementsEqual(".".utf8)
      if isDots { _ = kept.popLast() }
      if !isDots, !isDot { kept.append(segment) }
      if isDots || isDot, index == segments.count - 1 { kept.append([]) }
    }
    return ArraySlice("/".utf8) + kept.joined(separator: "/".utf8)
  }
}

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
