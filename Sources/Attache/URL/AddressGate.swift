/// Decides whether an address may be reached. By default it denies every address except public ones
/// and those that `--allow-net` allows.
///
/// It checks literal addresses in URLs, every DNS answer, and every socket address before a
/// connection is made.
public struct AddressGate: Sendable {
  /// The networks that may be reached on any port, although they are not public.
  public let allowedNets: [CIDR]

  /// Makes the gate with the networks of `--allow-net`.
  public init(allowedNets: [CIDR] = []) {
    self.allowedNets = allowedNets
  }

  /// Checks that an address may be reached.
  ///
  /// An IPv6 form that embeds IPv4 is refused as a form. If `allowedNets` allows the form, the
  /// embedded IPv4 address must pass too. Cloud metadata is always refused, embedded or not.
  ///
  /// - Throws: a refusal `policy.address`.
  public func check(_ address: IPAddress) throws(Refusal) {
    let inner = Self.embedded(in: address)
    for candidate in [address] + inner + Self.suspected(in: address) {
      if let row = AddressClass.metadata.first(where: { $0.network.contains(candidate) }) {
        throw Refusal(.policyAddress, "\(Self.name(address, meaning: candidate)) is \(row.name) (\(row.source)); no flag allows it")
      }
    }
    let shut = ([address] + inner).filter { !allowsAnyPort($0) }.compactMap { candidate in
      AddressClass.of(candidate).map { (candidate, $0) }
    }
    guard let (candidate, row) = shut.first else { return }
    throw Refusal(
      .policyAddress, "\(Self.name(address, meaning: candidate)) is \(row.name) (\(row.source))", remedy: .nets(shut.map(\.1.network)))
  }

  /// Checks that the request for `url` may be sent to an address: the address passes ``check(_:)``,
  /// and the URL's port is allowed there.
  ///
  /// - Throws: a refusal `policy.address` or `policy.port`.
  public func check(_ address: IPAddress, for url: CheckedURL) throws(Refusal) {
    try check(address)
    guard url.portIsAllowed || allowsAnyPort(address) else { throw URLGate.portRefusal(url.port) }
  }

  /// Checks that every address in the DNS answer for the host of `url` passes. One forbidden
  /// address refuses the host.
  ///
  /// - Throws: the refusal of the first forbidden address.
  public func check(answer: some Sequence<IPAddress>, for url: CheckedURL) throws(Refusal) {
    for address in answer { try check(address, for: url) }
  }

  /// Returns whether the address is in a network of `--allow-net`, and so may be reached on any
  /// port.
  public func allowsAnyPort(_ address: IPAddress) -> Bool {
    allowedNets.contains { $0.contains(address) }
  }

  /// Returns whether an address may be reached without any allowed network. Gives the result of
  /// ``check(_:)`` of a gate without networks, but makes no message.
  static func isPublic(_ address: IPAddress) -> Bool {
    let inner = [address] + embedded(in: address)
    return inner.allSatisfy { AddressClass.of($0) == nil }
      && (inner + suspected(in: address)).allSatisfy { candidate in !AddressClass.metadata.contains { $0.network.contains(candidate) } }
  }

  private static func embedded(in address: IPAddress) -> [IPAddress] {
    guard case .v6(let bits) = address else { return [] }
    return EmbeddedIPv4.addresses(in: bits)
  }

  private static func suspected(in address: IPAddress) -> [IPAddress] {
    guard case .v6(let bits) = address, let inner = EmbeddedIPv4.translated(bits) else { return [] }
    return [inner]
  }

  private static func name(_ written: IPAddress, meaning candidate: IPAddress) -> String {
    written == candidate ? "\(written)" : "\(candidate), embedded in \(written),"
  }
}

/// A block of addresses that a payload may not reach, with its name and the source of the rule.
struct AddressClass: Hashable, Sendable {
  /// The addresses of the class.
  let network: CIDR
  /// A description of the addresses, to follow "is" in a message.
  let name: String
  /// The RFC or page that defines the block.
  let source: String

  init(_ network: CIDR, _ name: String, _ source: String) {
    self.network = network
    self.name = name
    self.source = source
  }

  /// Makes a row of a table below. Traps when the network is malformed, which is an error in the
  /// table.
  fileprivate init(_ network: String, _ name: String, _ source: String) {
    guard let network = try? CIDR(network) else { preconditionFailure("no network: \(network)") }
    self.init(network, name, source)
  }
}

extension AddressClass {
  /// Returns the class that forbids the address; nil when the address is public.
  ///
  /// An IPv4 address is public unless it is listed. An IPv6 address is public only inside 2000::/3,
  /// unless it is listed or has a form that embeds IPv4.
  static func of(_ address: IPAddress) -> AddressClass? {
    if let row = rows.first(where: { $0.network.contains(address) }) { return row }
    guard case .v6(let bits) = address else { return nil }
    let alone = CIDR(containing: address, prefixLength: 128)
    if bits >> 125 != 0b001 { return AddressClass(alone, "outside 2000::/3, the public part of IPv6", "RFC 4291") }
    if EmbeddedIPv4.isISATAP(bits) { return AddressClass(alone, "ISATAP, which embeds IPv4", "RFC 5214") }
    if let inner = EmbeddedIPv4.translated(bits), let row = internals.first(where: { $0.network.contains(inner) }) {
      return AddressClass(alone, "of the form of NAT64 and embeds \(inner), which is \(row.name)", "RFC 6052")
    }
    return nil
  }

  private static let rows = metadata + special

  /// The internal services of clouds. No flag allows them.
  static let metadata: [AddressClass] = [
    AddressClass("169.254.169.0/24", "cloud metadata", "AWS, Azure, Google Cloud and others: instance metadata and services beside it"),
    AddressClass("169.254.170.2/32", "cloud metadata", "AWS: Amazon ECS task credentials"),
    AddressClass("169.254.170.23/32", "cloud metadata", "AWS: EKS Pod Identity Agent"),
    AddressClass("169.254.0.23/32", "cloud metadata", "Tencent Cloud: instance metadata"),
    AddressClass("169.254.10.10/32", "cloud metadata", "Tencent Cloud: instance metadata"),
    AddressClass("169.254.42.42/32", "cloud metadata", "Scaleway: instance metadata"),
    AddressClass("100.100.100.200/32", "cloud metadata", "Alibaba Cloud: instance metadata"),
    AddressClass("192.0.0.192/32", "cloud metadata", "Oracle Cloud Classic: instance metadata"),
    AddressClass("168.63.129.16/32", "cloud metadata", "Azure: the host's service"),
    AddressClass("fd00:ec2::/32", "cloud metadata", "AWS: instance metadata and services beside it"),
    AddressClass("fd20:ce::254/128", "cloud metadata", "Google Cloud: metadata server"),
    AddressClass("fd00:c1::a9fe:a9fe/128", "cloud metadata", "Oracle Cloud: instance metadata"),
    AddressClass("fd00:42::42/128", "cloud metadata", "Scaleway: instance metadata"),
    AddressClass("fd00:a9fe:a9fe::1/128", "cloud metadata", "Akamai: metadata service"),
    AddressClass("fd00:100::100:200/128", "cloud metadata", "Alibaba Cloud: instance metadata"),
    AddressClass("fe80::a9fe:a9fe/128", "cloud metadata", "OpenStack: metadata service"),
  ]

  /// IANA's IPv4 and IPv6 Special-Purpose Address Registries and the RFCs named. If two blocks
  /// overlap, the smaller one comes first.
  ///
  /// Sources: https://www.iana.org/assignments/iana-ipv4-special-registry and
  /// https://www.iana.org/assignments/iana-ipv6-special-registry
  static let special: [AddressClass] =
    internals + [
      AddressClass("0.0.0.0/32", "the unspecified address", "RFC 1122"),
      AddressClass("0.0.0.0/8", "this network", "RFC 791, RFC 1122"),
      AddressClass("192.0.0.0/24", "for protocol assignments", "RFC 6890"),
      AddressClass("192.0.2.0/24", "for documentation", "RFC 5737"),
      AddressClass("192.31.196.0/24", "AS112", "RFC 7535"),
      AddressClass("192.52.193.0/24", "automatic multicast tunnelling", "RFC 7450"),
      AddressClass("192.88.99.0/24", "a 6to4 relay, deprecated", "RFC 7526"),
      AddressClass("192.175.48.0/24", "AS112", "RFC 7534"),
      AddressClass("198.18.0.0/15", "for benchmarking", "RFC 2544"),
      AddressClass("198.51.100.0/24", "for documentation", "RFC 5737"),
      AddressClass("203.0.113.0/24", "for documentation", "RFC 5737"),
      AddressClass("224.0.0.0/4", "multicast", "RFC 5771"),
      AddressClass("255.255.255.255/32", "broadcast", "RFC 919"),
      AddressClass("240.0.0.0/4", "reserved", "RFC 1112"),
      AddressClass("::/128", "the unspecified address", "RFC 4291"),
      AddressClass("::1/128", "loopback", "RFC 4291"),
      AddressClass("::/96", "IPv4-compatible, deprecated", "RFC 4291"),
      AddressClass("::ffff:0:0/96", "IPv4-mapped", "RFC 4291"),
      AddressClass("::ffff:0:0:0/96", "IPv4-translated", "RFC 2765"),
      AddressClass("64:ff9b::/96", "NAT64", "RFC 6052"),
      AddressClass("64:ff9b:1::/48", "NAT64 for local use", "RFC 8215"),
      AddressClass("100::/64", "discard only", "RFC 6666"),
      AddressClass("100:0:0:1::/64", "a dummy prefix", "RFC 9780"),
      AddressClass("2001::/32", "Teredo", "RFC 4380"),
      AddressClass("2001:2::/48", "for benchmarking", "RFC 5180"),
      AddressClass("2001:10::/28", "ORCHID, deprecated", "RFC 4843"),
      AddressClass("2001:20::/28", "ORCHIDv2", "RFC 7343"),
      AddressClass("2001::/23", "for protocol assignments", "RFC 2928"),
      AddressClass("2001:db8::/32", "for documentation", "RFC 3849"),
      AddressClass("2002::/16", "6to4", "RFC 3056"),
      AddressClass("2620:4f:8000::/48", "AS112", "RFC 7534"),
      AddressClass("3fff::/20", "for documentation", "RFC 9637"),
      AddressClass("5f00::/16", "segment routing", "RFC 9602"),
      AddressClass("fc00::/7", "unique local", "RFC 4193"),
      AddressClass("fe80::/10", "link-local", "RFC 4291"),
      AddressClass("fec0::/10", "site-local, deprecated", "RFC 3879"),
      AddressClass("ff00::/8", "multicast", "RFC 4291"),
    ]

  /// The IPv4 networks of hosts behind a firewall. An IPv6 address must not contain one of their
  /// addresses in its last 32 bits.
  private static let internals: [AddressClass] = [
    AddressClass("10.0.0.0/8", "private", "RFC 1918"),
    AddressClass("100.64.0.0/10", "shared address space", "RFC 6598"),
    AddressClass("127.0.0.0/8", "loopback", "RFC 1122"),
    AddressClass("169.254.0.0/16", "link-local", "RFC 3927"),
    AddressClass("172.16.0.0/12", "private", "RFC 1918"),
    AddressClass("192.168.0.0/16", "private", "RFC 1918"),
  ]
}

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
