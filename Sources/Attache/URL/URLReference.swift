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
