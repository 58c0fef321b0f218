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

/// A host name in the form that the gates, DNS, SNI and the Host field use: lower-case ASCII
/// without a trailing dot.
///
/// It has at most 253 bytes. A label has 1 to 63 letters, digits, dashes and underscores, and no
/// leading dash (RFC 1123, plus the underscore, which real names use). The last label begins with a
/// letter, so that no name can be read as an address.
package struct HostName: Hashable, Sendable {
  let text: String
  /// Whether the name has only one label, such as `intranet`. A resolver's search list would
  /// complete it.
  let isSingleLabel: Bool

  /// Parses a name with at most one trailing dot.
  ///
  /// - Throws: a refusal `policy.host` with the error.
  init(_ bytes: ArraySlice<UInt8>) throws(Refusal) {
    var name = bytes.map(\.lowercasedASCII)
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    guard !name.isEmpty else { throw Refusal(.policyHost, "the host is empty") }
    if let bad = name.first(where: { !Self.isAllowed($0) }) { throw Self.badByte(bad, in: bytes) }
    guard name.count <= 253 else { throw Refusal(.policyHost, "the host is longer than 253 bytes (RFC 1035)") }
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    for label in labels { try Self.check(label, of: bytes) }
    guard let top = labels.last?.first, top.isLetterASCII else {
      throw Refusal(.policyHost, "'\(Refusal.quote(bytes))' ends like a number but is not an IPv4 address")
    }
    text = String(decoding: name, as: UTF8.self)
    isSingleLabel = labels.count == 1
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isLetterASCII || byte.decimalDigit != nil || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }

  private static func badByte(_ byte: UInt8, in host: ArraySlice<UInt8>) -> Refusal {
    let host = Refusal.quote(host)
    if byte >= 0x80 { return Refusal(.policyHost, "the host '\(host)' is not ASCII; write it with A-labels (xn--…)") }
    return Refusal(
      .policyHost, "the host '\(host)' contains '\(Refusal.quote([byte]))'; only letters, digits, '-', '_' and '.' are allowed")
  }

  private static func check(_ label: ArraySlice<UInt8>, of host: ArraySlice<UInt8>) throws(Refusal) {
    let host = Refusal.quote(host)
    guard let first = label.first else { throw Refusal(.policyHost, "the host '\(host)' has an empty label") }
    guard label.count <= 63 else { throw Refusal(.policyHost, "a label of the host '\(host)' is longer than 63 bytes (RFC 1035)") }
    guard first != UInt8(ascii: "-") else { throw Refusal(.policyHost, "a label of the host '\(host)' begins with a dash (RFC 952)") }
    if label.starts(with: "xn--".utf8), !isALabel(label) {
      throw Refusal(.policyHost, "'\(Refusal.quote(label))' in the host is not an A-label (RFC 3492, RFC 5891)")
    }
  }

  /// Returns whether the label decodes to text that is not all ASCII and contains nothing that
  /// browsers map, drop or read as a dot.
  private static func isALabel(_ label: ArraySlice<UInt8>) -> Bool {
    guard let scalars = Punycode.decode(label.dropFirst(4)), scalars.contains(where: { !$0.isASCII }) else { return false }
    return scalars.allSatisfy(isStable)
  }

  /// Returns whether UTS #46 leaves the scalar unchanged. The four deviation characters count as
  /// stable, as in RFC 5892.
  private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{DF}", "\u{3C2}", "\u{200C}", "\u{200D}": return true
    case "\u{3002}": return false
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
    default: return !scalar.properties.changesWhenNFKCCaseFolded
    }
  }
}

/// Parses hosts that `inet_aton`, libcurl and browsers read as IPv4 numbers: one to four decimal,
/// octal or hexadecimal parts.
///
/// Source: https://url.spec.whatwg.org/#concept-ipv4-parser, without the forms that only this
/// source accepts: an empty number (`0x`) and a trailing dot.
enum NumericHost {
  /// Returns whether the last label looks like a number, so that the host must be an IPv4 address.
  static func endsInNumber(_ host: ArraySlice<UInt8>) -> Bool {
    var host = host
    if host.last == UInt8(ascii: ".") { host.removeLast() }
    let last = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last ?? []
    guard !last.isEmpty else { return false }
    return last.allSatisfy { $0.decimalDigit != nil } || hexadecimalDigits(last)?.allSatisfy { $0.hexadecimalDigit != nil } == true
  }

  /// Returns the address of a numeric host; nil when a part is not a number or is too large, or
  /// when there are too many parts.
  static func address(_ host: ArraySlice<UInt8>) -> IPAddress? {
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 4 else { return nil }
    var bits: UInt32 = 0
    for (index, part) in parts.enumerated() {
      // The last part fills all remaining octets.
      let width = index == parts.count - 1 ? 8 * (4 - index) : 8
      guard let value = number(part), value < 1 << UInt64(width) else { return nil }
      bits |= UInt32(value) << (index == parts.count - 1 ? 0 : 24 - 8 * index)
    }
    return .v4(bits)
  }

  private static func number(_ part: ArraySlice<UInt8>) -> UInt64? {
    if let digits = hexadecimalDigits(part) { return value(digits, radix: 16) }
    if part.count > 1, part.first == UInt8(ascii: "0") { return value(part.dropFirst(), radix: 8) }
    return value(part, radix: 10)
  }

  /// Returns the digits after `0x`, or nil without that prefix.
  private static func hexadecimalDigits(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard part.first == UInt8(ascii: "0"), part.dropFirst().first?.lowercasedASCII == UInt8(ascii: "x") else { return nil }
    return part.dropFirst(2)
  }

  private static func value(_ digits: ArraySlice<UInt8>, radix: UInt64) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      guard let number = digit.hexadecimalDigit, number < radix, value <= UInt64(UInt32.max) else { return nil }
      value = value * radix + UInt64(number)
    }
    return value
  }
}

/// A domain whose names are not in the public DNS. They lead to the local machine or network, or
/// are not DNS names.
struct SpecialName: Sendable {
  /// The domain, including its subdomains.
  let domain: String
  /// A description of the names, to follow "is" in a message.
  let name: String
  /// The RFC or page that defines the domain.
  let source: String
  /// Whether `--allow-host` may allow a name. Names that must never be looked up are always
  /// refused.
  let mayBeAllowed: Bool

  private init(_ domain: String, _ name: String, _ source: String, mayBeAllowed: Bool = true) {
    self.domain = domain
    self.name = name
    self.source = source
    self.mayBeAllowed = mayBeAllowed
  }

  /// Returns the row for a name; nil when it is in the public DNS. `test`, `example` and `invalid`
  /// are looked up like any other name.
  static func of(_ host: HostName) -> SpecialName? {
    if let row = rows.first(where: { host.text == $0.domain || host.text.hasSuffix("." + $0.domain) }) { return row }
    return host.isSingleLabel ? SpecialName(host.text, "a name of one label, which a search list would extend", "RFC 1535") : nil
  }

  private static let rows: [SpecialName] = [
    SpecialName("localhost", "the local machine", "RFC 6761"),
    SpecialName("localdomain", "the local machine", "/etc/hosts of many systems"),
    SpecialName("localdomain4", "the local machine", "/etc/hosts of many systems"),
    SpecialName("localdomain6", "the local machine", "/etc/hosts of many systems"),
    SpecialName("local", "a multicast DNS name", "RFC 6762"),
    SpecialName("internal", "a private-use name", "ICANN resolution 2024.07.29.06"),
    SpecialName("home.arpa", "a name of the home network", "RFC 8375"),
    SpecialName("service.arpa", "a name of the local network", "RFC 9665"),
    SpecialName("resolver.arpa", "a name of the local resolver", "RFC 9462"),
    SpecialName("in-addr.arpa", "the name of an address, which no web server has", "RFC 1035"),
    SpecialName("ip6.arpa", "the name of an address, which no web server has", "RFC 3596"),
    SpecialName("arpa", "a name of the Internet's infrastructure", "RFC 3172"),
    SpecialName("intranet", "a private-use name", "RFC 6762, appendix G"),
    SpecialName("private", "a private-use name", "RFC 6762, appendix G"),
    SpecialName("corp", "a private-use name", "RFC 6762, appendix G"),
    SpecialName("home", "a private-use name", "RFC 6762, appendix G"),
    SpecialName("lan", "a private-use name", "RFC 6762, appendix G"),
    SpecialName("onion", "a Tor name, which must not be looked up", "RFC 7686", mayBeAllowed: false),
    SpecialName("i2p", "an I2P name, which DNS does not know", "https://geti2p.net/en/docs/naming", mayBeAllowed: false),
    SpecialName("alt", "no DNS name", "RFC 9476", mayBeAllowed: false),
  ]
}
