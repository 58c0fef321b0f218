/// The classes of special addresses, written as plain numbers and apart from the filter's own
/// table.
enum ShutRanges {
  static let v4: [ClosedRange<UInt32>] = [
    0x0000_0000...0x00FF_FFFF,  // 0.0.0.0/8
    0x0A00_0000...0x0AFF_FFFF,  // 10.0.0.0/8
    0x6440_0000...0x647F_FFFF,  // 100.64.0.0/10
    0x7F00_0000...0x7FFF_FFFF,  // 127.0.0.0/8
    0xA9FE_0000...0xA9FE_FFFF,  // 169.254.0.0/16
    0xAC10_0000...0xAC1F_FFFF,  // 172.16.0.0/12
    0xC000_0000...0xC000_00FF,  // 192.0.0.0/24
    0xC000_0200...0xC000_02FF,  // 192.0.2.0/24
    0xC058_6300...0xC058_63FF,  // 192.88.99.0/24
    0xC0A8_0000...0xC0A8_FFFF,  // 192.168.0.0/16
    0xC612_0000...0xC613_FFFF,  // 198.18.0.0/15
    0xC633_6400...0xC633_64FF,  // 198.51.100.0/24
    0xCB00_7100...0xCB00_71FF,  // 203.0.113.0/24
    0xE000_0000...0xFFFF_FFFF,  // 224.0.0.0/4, 240.0.0.0/4, 255.255.255.255
    0xA83F_8110...0xA83F_8110,  // 168.63.129.16
  ]

  /// Within 2000::/3; all that is outside is shut.
  static let v6: [ClosedRange<UInt128>] = [
    block(0x2001_0000, 23),  // 2001::/23: Teredo, benchmarking, ORCHID, ORCHIDv2, the rest
    block(0x2001_0DB8, 32),  // 2001:db8::/32
    block(0x2002_0000, 16),  // 2002::/16
    block(0x3FFF_0000, 20),  // 3fff::/20
  ]

  /// What may be shut too, although the classes do not say so: AS112 and multicast tunnelling.
  static let further: [ClosedRange<UInt32>] = [
    0xC01F_C400...0xC01F_C4FF,  // 192.31.196.0/24
    0xC034_C100...0xC034_C1FF,  // 192.52.193.0/24
    0xC0AF_3000...0xC0AF_30FF,  // 192.175.48.0/24
  ]
  static let furtherV6: [ClosedRange<UInt128>] = [
    block(0x2620_004F_8000, 48, digits: 12)  // 2620:4f:8000::/48
  ]

  /// The clouds' own services, which nothing opens.
  static let metadata: [UInt32] = [
    0xA9FE_A9FE, 0xA9FE_AA02, 0xA9FE_AA17, 0x6464_64C8, 0xC000_00C0, 0xA83F_8110,
  ]
  static let metadataV6: UInt128 = 0xFD00_0EC2_0000_0000_0000_0000_0000_0254

  static func isShut(_ bits: UInt32) -> Bool {
    v4.contains { $0.contains(bits) }
  }

  static func isShut(_ bits: UInt128) -> Bool {
    bits >> 125 != 1 || v6.contains { $0.contains(bits) } || isISATAP(bits)
  }

  static func isISATAP(_ bits: UInt128) -> Bool {
    [0x0000_5EFE, 0x0200_5EFE].contains(UInt32(truncatingIfNeeded: bits >> 32))
  }

  /// The forms in which an IPv6 address carries an IPv4 address.
  static func carrying(_ inner: UInt32, network: UInt64) -> [UInt128] {
    let low = UInt128(inner)
    let isatap = UInt128(network) << 64 | 0x5EFE << 32 | low
    return [
      low, 0xFFFF << 32 | low, 0xFFFF_0000 << 32 | low, 0x0064_FF9B << 96 | low, 0x0064_FF9B_0001 << 80 | low,
      0x2002 << 112 | low << 80, 0x2001_0000 << 96 | low << 64, 0x2001_0000 << 96 | UInt128(~inner), isatap, isatap | 0x0200_0000 << 32,
    ]
  }

  /// The first bits of a block as `digits` hexadecimal digits, and how many of them count.
  private static func block(_ first: UInt128, _ length: Int, digits: Int = 8) -> ClosedRange<UInt128> {
    let start = first << (128 - 4 * digits)
    return start...(start | UInt128.max >> length)
  }
}
