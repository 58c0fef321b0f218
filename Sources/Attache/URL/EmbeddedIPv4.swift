/// Finds the IPv4 addresses that an IPv6 address embeds in one of the transition forms.
enum EmbeddedIPv4 {
  /// Returns the embedded IPv4 addresses; empty when the address has no such form. An ISATAP
  /// interface identifier can follow the prefix of another form.
  static func addresses(in bits: UInt128) -> [IPAddress] {
    behindPrefix(of: bits) + (isISATAP(bits) ? [low(bits)] : [])
  }

  private static func behindPrefix(of bits: UInt128) -> [IPAddress] {
    switch bits >> 32 {
    case 0 where bits > 1, 0xFFFF, 0xFFFF_0000, 0x0064_FF9B << 64: return [low(bits)]
    default: break
    }
    if bits >> 80 == 0x0064_FF9B_0001 { return localNAT64(bits) }
    if bits >> 112 == 0x2002 { return [slice(bits, from: 16)] }
    if bits >> 96 == 0x2001_0000 { return [slice(bits, from: 32), low(~bits)] }
    return []
  }

  /// Returns whether the interface identifier is 0000:5efe or 0200:5efe and an IPv4 address (RFC
  /// 5214, 6.1).
  static func isISATAP(_ bits: UInt128) -> Bool {
    UInt32(truncatingIfNeeded: bits >> 32) & ~0x0200_0000 == 0x5EFE
  }

  /// Returns the last 32 bits, if the address can be a NAT64 address under a 96-bit prefix that the
  /// network chose (RFC 6052, 2.2): bits 64 to 71 are zero. The prefix cannot be known, so many
  /// public addresses have this form too.
  static func translated(_ bits: UInt128) -> IPAddress? {
    bits >> 56 & 0xFF == 0 ? low(bits) : nil
  }

  /// Returns all possible readings of an address in 64:ff9b:1::/48, which is used with prefixes of
  /// 48, 56, 64 or 96 bits (RFC 8215, 4; RFC 6052, 2.2). The bits after the IPv4 address must be
  /// zero. Bits 64 to 71 are not part of it.
  private static func localNAT64(_ bits: UInt128) -> [IPAddress] {
    let withoutU = (bits & ~UInt128(UInt64.max)) | (bits << 8 & UInt128(UInt64.max))
    var readings: [IPAddress] = []
    for (prefixLength, suffixLength) in [(48, 40), (56, 32), (64, 24)] where bits & ((1 << suffixLength) - 1) == 0 {
      readings.append(slice(withoutU, from: prefixLength))
    }
    return readings + [low(bits)].filter { $0 != .v4(0) }
  }

  private static func low(_ bits: UInt128) -> IPAddress {
    .v4(UInt32(truncatingIfNeeded: bits))
  }

  private static func slice(_ bits: UInt128, from bit: Int) -> IPAddress {
    .v4(UInt32(truncatingIfNeeded: bits >> (96 - bit)))
  }
}
