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
