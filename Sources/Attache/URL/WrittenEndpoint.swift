/// An address with a port, as a user writes it: `127.0.0.1:5353` or `[::1]:5353`.
package struct WrittenEndpoint: Hashable, Sendable, CustomStringConvertible {
  package var address: IPAddress
  package var port: UInt16

  package init(_ address: IPAddress, port: UInt16) {
    (self.address, self.port) = (address, port)
  }

  /// Parses a plain IPv4 address, or an IPv6 address in brackets, and a decimal port.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else { return nil }
    let host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    switch IPAddress(String(isBracketed ? host.dropFirst().dropLast() : host)) {
    case .v4(let bits) where !isBracketed: address = .v4(bits)
    case .v6(let bits) where isBracketed: address = .v6(bits)
    default: return nil
    }
    self.port = port
  }

  /// Parses a port: a decimal number up to 65535.
  package static func port(_ text: Substring) -> UInt16? {
    IPAddress.decimal(ArraySlice(text.utf8), maximum: Int(UInt16.max)).map { UInt16($0) }
  }

  package var description: String {
    if case .v6 = address { "[\(address)]:\(port)" } else { "\(address):\(port)" }
  }
}
