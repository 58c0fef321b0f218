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
