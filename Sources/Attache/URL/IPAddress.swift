internal import Glibc

/// An IPv4 or IPv6 address, as a number in host byte order.
public enum IPAddress: Hashable, Sendable {
  /// An IPv4 address.
  case v4(UInt32)
  /// An IPv6 address.
  case v6(UInt128)
}

extension IPAddress: CustomStringConvertible {
  /// The canonical text: a dotted quad, or RFC 5952 without brackets.
  public var description: String {
    switch self {
    case .v4(let bits): Self.dottedQuad(bits)
    case .v6(let bits) where bits >> 32 == 0xFFFF: "::ffff:" + Self.dottedQuad(UInt32(truncatingIfNeeded: bits))
    case .v6(let bits): Self.colonHex(bits)
    }
  }

  private static func dottedQuad(_ bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 0xFF).\(bits >> 8 & 0xFF).\(bits & 0xFF)"
  }

  private static func colonHex(_ bits: UInt128) -> String {
    let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> (112 - 16 * $0)) }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard let zeros = longestZeroRun(groups) else { return text(0..<8) }
    return text(0..<zeros.lowerBound) + "::" + text(zeros.upperBound..<8)
  }

  /// Returns the run of zero groups that `::` replaces: the longest of at least two, and the first
  /// of several equal ones (RFC 5952, 4.2).
  private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
    var best = 0..<1
    var start = 0
    for index in 0...groups.count where index == groups.count || groups[index] != 0 {
      if index - start > best.count { best = start..<index }
      start = index + 1
    }
    return best.count > 1 ? best : nil
  }
}

extension IPAddress {
  /// Whether the address is in 127.0.0.0/8, or is `::1`.
  package var isLoopback: Bool {
    switch self {
    case .v4(let bits): bits >> 24 == 127
    case .v6(let bits): bits == 1
    }
  }
}

extension IPAddress {
  /// Parses the strict text form: four decimal octets without leading zeros, or RFC 4291 without
  /// brackets and zone.
  ///
  /// Returns nil for any other text, including the short, octal and hexadecimal IPv4 forms of
  /// `inet_aton`.
  public init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(64))
    if bytes.contains(UInt8(ascii: ":")) {
      guard let bits = Self.parseV6(bytes[...]) else { return nil }
      self = .v6(bits)
    } else {
      guard let bits = Self.parseV4(bytes[...]) else { return nil }
      self = .v4(bits)
    }
  }

  /// Parses a strict dotted quad.
  static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
      guard let octet = decimal(part, maximum: 255) else { return nil }
      bits = bits << 8 | UInt32(octet)
    }
    return bits
  }

  /// Parses colon-separated groups of up to four hexadecimal digits, with at most one `::`. The
  /// last 32 bits may be a dotted quad.
  static func parseV6(_ text: ArraySlice<UInt8>) -> UInt128? {
    guard text.count <= 45 else { return nil }
    guard let gap = doubleColon(in: text) else {
      guard let groups = groups(text, mayEndInQuad: true), groups.count == 8 else { return nil }
      return join(groups)
    }
    guard let head = groups(text[..<gap], mayEndInQuad: false),
      let tail = groups(text[(gap + 2)...], mayEndInQuad: true),
      head.count + tail.count <= 7
    else { return nil }
    return join(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
  }

  /// Parses a decimal number up to `maximum`, without a sign or leading zeros.
  static func decimal(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int? {
    guard let first = digits.first, digits.count <= 5, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
    var value = 0
    for digit in digits {
      guard let number = digit.decimalDigit else { return nil }
      value = value * 10 + number
    }
    return value <= maximum ? value : nil
  }

  private static func join(_ groups: [UInt16]) -> UInt128 {
    groups.reduce(0) { $0 << 16 | UInt128($1) }
  }

  private static func doubleColon(in text: ArraySlice<UInt8>) -> Int? {
    text.indices.dropLast().first { text[$0] == UInt8(ascii: ":") && text[$0 + 1] == UInt8(ascii: ":") }
  }

  private static func groups(_ text: ArraySlice<UInt8>, mayEndInQuad: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if mayEndInQuad, index == parts.count - 1, let quad = parseV4(part) {
        groups += [UInt16(quad >> 16), UInt16(truncatingIfNeeded: quad)]
      } else if let group = hexadecimal(part) {
        groups.append(group)
      } else {
        return nil
      }
    }
    return groups
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard (1...4).contains(digits.count) else { return nil }
    var value: UInt16 = 0
    for digit in digits {
      guard let number = digit.hexadecimalDigit else { return nil }
      value = value << 4 | UInt16(number)
    }
    return value
  }
}

extension IPAddress {
  /// Reads the address of a socket address of family `AF_INET` or `AF_INET6`; nil for any other
  /// family or if `length` is too short.
  ///
  /// - Parameters:
  ///   - socketAddress: at least `length` readable bytes.
  ///   - length: the size that came with the socket address, in bytes.
  package init?(socketAddress: UnsafeRawPointer, length: Int) {
    guard length >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(unsafe socketAddress.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
      let address = unsafe socketAddress.loadUnaligned(as: sockaddr_in.self)
      self = .v4(UInt32(bigEndian: address.sin_addr.s_addr))
    case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
      let address = unsafe socketAddress.loadUnaligned(as: sockaddr_in6.self)
      self = .v6(unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) })
    default: return nil
    }
  }
}

extension IPAddress {
  fileprivate var bitWidth: Int {
    switch self {
    case .v4: 32
    case .v6: 128
    }
  }

  fileprivate func masked(to length: Int) -> IPAddress {
    switch self {
    case .v4(let bits): .v4(bits & UInt32.max << (32 - length))
    case .v6(let bits): .v6(bits & UInt128.max << (128 - length))
    }
  }
}

/// A network: the addresses that share a prefix, as in `127.0.0.0/8` or `fd00::/8`.
public struct CIDR: Hashable, Sendable {
  /// The first address of the network.
  public let address: IPAddress
  /// The number of leading bits that the addresses share: 0…32 for IPv4, 0…128 for IPv6.
  public let prefixLength: Int

  /// Parses `address/length`. An address without a length is the network of that one address.
  ///
  /// - Throws: ``CIDRError`` when the address or the length is malformed, or when bits beyond the
  ///   prefix are set.
  public init(_ text: String) throws(CIDRError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])) else { throw .address(String(parts[0])) }
    var length = address.bitWidth
    if parts.count == 2 {
      guard let written = IPAddress.decimal(Array(parts[1].utf8)[...], maximum: length) else {
        throw .length(String(parts[1]), maximum: length)
      }
      length = written
    }
    self.init(containing: address, prefixLength: length)
    if self.address != address { throw .hostBits(text, meant: self) }
  }

  /// Makes the network of `prefixLength` bits that contains `address`.
  package init(containing address: IPAddress, prefixLength: Int) {
    self.address = address.masked(to: prefixLength)
    self.prefixLength = prefixLength
  }

  /// Returns whether the network contains the address. An IPv6 network contains no IPv4 address,
  /// and an IPv4 network no IPv6 address.
  public func contains(_ address: IPAddress) -> Bool {
    address.bitWidth == self.address.bitWidth && address.masked(to: prefixLength) == self.address
  }
}

extension CIDR: CustomStringConvertible {
  /// The canonical text: `address/length`.
  public var description: String { "\(address)/\(prefixLength)" }
}

/// The reason why a text is not a network. `description` is a message for the user.
public enum CIDRError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text before the slash is not an address.
  case address(String)
  /// The text after the slash is not a number up to the maximum.
  case length(String, maximum: Int)
  /// Bits beyond the prefix are set. `meant` is the network that the prefix names.
  case hostBits(String, meant: CIDR)

  public var description: String {
    switch self {
    case .address(let text): "'\(text)' is not an IPv4 or IPv6 address"
    case .length(let text, let maximum): "'\(text)' is not a prefix length; it must be from 0 to \(maximum)"
    case .hostBits(let text, let meant): "'\(text)' has bits set beyond its prefix; write \(meant) for the network"
    }
  }
}
