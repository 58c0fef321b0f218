/// The authority of a URL: the host, as a name or an address, and the port as written.
package struct Authority {
  package enum Host {
    case name(HostName)
    case address(IPAddress)

    /// The canonical text, IPv6 without brackets.
    package var text: String {
      switch self {
      case .name(let name): name.text
      case .address(let address): address.description
      }
    }
  }

  package let host: Host
  /// The port; nil when the URL does not give one.
  package let port: UInt16?

  /// Parses an authority that is not empty.
  ///
  /// - Throws: a refusal `policy.userinfo`, `policy.host`, `policy.port` or `policy.url`.
  package init(_ bytes: ArraySlice<UInt8>) throws(Refusal) {
    try Self.refuseUserinfo(bytes)
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw Refusal(.policyHost, "the host '\(Refusal.quote(bytes))' has a bracket that does not close")
      }
      host = try Self.bracketed(bytes[(bytes.startIndex + 1)..<close])
      port = try Self.port(bytes[(close + 1)...], after: bytes[...close])
    } else {
      try Self.refuseBareIPv6(bytes)
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      host = try Self.named(bytes[..<end])
      port = try Self.port(bytes[end...], after: bytes[..<end])
    }
  }

  private static func refuseUserinfo(_ bytes: ArraySlice<UInt8>) throws(Refusal) {
    let isBracketed = bytes.first == UInt8(ascii: "[")
    let afterBrackets = isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex : bytes.startIndex
    let signs = bytes[afterBrackets...].count { $0 == UInt8(ascii: "@") }
    if signs > 1 { throw Refusal(.policyURL, "the authority has several '@', which parsers read differently") }
    if signs == 1 { throw Refusal(.policyUserinfo, "the URL contains a user name or a password; remove them") }
  }

  /// Refuses an IPv6 address without brackets, as in `http://::1/`. Its colons do not begin a port.
  private static func refuseBareIPv6(_ bytes: ArraySlice<UInt8>) throws(Refusal) {
    let withoutZone = bytes.prefix { $0 != UInt8(ascii: "%") }
    if IPAddress.parseV6(withoutZone) != nil {
      throw Refusal(.policyURL, "the IPv6 address '\(Refusal.quote(bytes))' needs brackets (RFC 3986)")
    }
  }

  private static func bracketed(_ literal: ArraySlice<UInt8>) throws(Refusal) -> Host {
    if literal.contains(UInt8(ascii: "%")) {
      throw Refusal(.policyHost, "the address '\(Refusal.quote(literal))' has a zone, which names an interface of this machine")
    }
    guard literal.contains(UInt8(ascii: ":")), let bits = IPAddress.parseV6(literal) else {
      throw Refusal(.policyHost, "'\(Refusal.quote(literal))' in brackets is not an IPv6 address (RFC 4291)")
    }
    return .address(.v6(bits))
  }

  private static func named(_ host: ArraySlice<UInt8>) throws(Refusal) -> Host {
    if host.contains(UInt8(ascii: "%")) {
      throw Refusal(.policyHost, "the host '\(Refusal.quote(host))' contains percent-escapes, which parsers read differently")
    }
    guard NumericHost.endsInNumber(host) else { return .name(try HostName(host)) }
    guard let address = NumericHost.address(host) else {
      throw Refusal(.policyHost, "the host '\(Refusal.quote(host))' ends in a number but is not an IPv4 address")
    }
    return .address(address)
  }

  /// Parses the port in `:80`. Returns nil for empty text or a colon alone (RFC 3986, 3.2.3).
  /// Leading zeros are ignored.
  private static func port(_ bytes: ArraySlice<UInt8>, after host: ArraySlice<UInt8>) throws(Refusal) -> UInt16? {
    guard let colon = bytes.first else { return nil }
    guard colon == UInt8(ascii: ":") else {
      throw Refusal(.policyHost, "there is text after the address in '\(Refusal.quote(host + bytes))'")
    }
    let digits = bytes.dropFirst()
    if digits.isEmpty { return nil }
    var value: UInt32 = 0
    for digit in digits {
      guard let number = digit.decimalDigit, value <= UInt32(UInt16.max) else { throw badPort(digits) }
      value = value * 10 + UInt32(number)
    }
    guard let port = UInt16(exactly: value), port > 0 else { throw badPort(digits) }
    return port
  }

  private static func badPort(_ digits: ArraySlice<UInt8>) -> Refusal {
    Refusal(.policyPort, "'\(Refusal.quote(digits))' is not a port; a port is a number from 1 to 65535")
  }
}
