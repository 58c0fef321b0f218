internal import ArgumentParser
internal import Attache

/// A name server with its port: `127.0.0.1:5353` or `[::1]:5353`.
package struct NameServerArgument: ExpressibleByArgument {
  package var text: String

  package init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]), port > 0,
      Self.isHost(argument[..<colon])
    else { return nil }
    text = argument
  }

  package static var allValueStrings: [String] { [] }

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
