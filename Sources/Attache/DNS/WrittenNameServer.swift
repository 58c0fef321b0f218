/// The text of a name server with its port: `127.0.0.1:5353` or `[::1]:5353`.
package enum WrittenNameServer {
  package static func isValid(_ text: String) -> Bool {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
    return isHost(text[..<colon])
  }

  /// Accepts a plain IPv4 address, or an IPv6 address in brackets.
  private static func isHost(_ text: Substring) -> Bool {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    return switch IPAddress(String(isBracketed ? text.dropFirst().dropLast() : text)) {
    case .v4: !isBracketed
    case .v6: isBracketed
    case nil: false
    }
  }
}
