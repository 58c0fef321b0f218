/// How much of a payload's URL the log and the report show (`--log-urls`). The text is printable
/// ASCII: every other byte is shown as `\xNN`.
public enum URLDetail: String, CaseIterable, Sendable {
  /// Omits what may contain a secret: the user name, the password, the query and the fragment. Cut
  /// after 200 characters.
  case short
  /// Shows everything, up to 8,192 bytes, the longest URL that is fetched.
  case full

  private static let shortBytes = 200

  /// Returns the URL as shown.
  package func text(of url: UntrustedText) -> String {
    let isPlain = url.utf8.count <= Self.shortBytes && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#@".utf8.contains($0) }
    return isPlain ? url.string : text(of: Array(url.utf8.prefix(URLGate.maximumBytes + 1))[...])
  }

  /// Returns the same as ``text(of:)-(UntrustedText)``, for bytes of any kind.
  func text(of bytes: ArraySlice<UInt8>) -> String {
    switch self {
    case .full: return Refusal.quote(bytes, limit: URLGate.maximumBytes)
    case .short:
      var parts = URLReference(bytes)
      (parts.query, parts.fragment) = (nil, nil)
      if let at = parts.authority?.lastIndex(of: UInt8(ascii: "@")) { parts.authority = parts.authority?[(at + 1)...] }
      // In what is no proper URL, such as https//:name:password@host, the path may have them.
      let isProper = parts.authority?.isEmpty == false && !parts.path.starts(with: "//".utf8)
      if !isProper, let at = parts.path.lastIndex(of: UInt8(ascii: "@")) {
        let start = parts.path[..<at].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? parts.path.startIndex
        parts.path = parts.path[..<start] + parts.path[(at + 1)...]
      }
      return Refusal.quote(parts.bytes, limit: Self.shortBytes)
    }
  }
}
