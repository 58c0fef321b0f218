import Glibc
import Testing

@testable import Attache

/// A class of addresses: an address inside, a public one just outside (nil if the neighbours are
/// refused too), and the source.
struct AddressCase: Sendable, CustomTestStringConvertible {
  let block: String
  let inside: [String]
  let outside: [String]
  let source: String

  init(_ block: String, _ inside: [String], outside: [String] = [], _ source: String) {
    self.block = block
    self.inside = inside
    self.outside = outside
    self.source = source
  }

  var testDescription: String { block }

  static let all: [AddressCase] = [
    AddressCase("0.0.0.0/8", ["0.0.0.1", "0.255.255.255"], outside: ["1.0.0.0"], "RFC 791, RFC 1122"),
    AddressCase("0.0.0.0/32", ["0.0.0.0"], "RFC 1122"),
    AddressCase("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], outside: ["9.255.255.255", "11.0.0.0"], "RFC 1918"),
    AddressCase("100.64.0.0/10", ["100.64.0.0", "100.127.255.255"], outside: ["100.63.255.255", "100.128.0.0"], "RFC 6598"),
    AddressCase("127.0.0.0/8", ["127.0.0.0", "127.255.255.255"], outside: ["126.255.255.255", "128.0.0.0"], "RFC 1122"),
    AddressCase("169.254.0.0/16", ["169.254.0.0", "169.254.255.255"], outside: ["169.253.255.255", "169.255.0.0"], "RFC 3927"),
    AddressCase("172.16.0.0/12", ["172.16.0.0", "172.31.255.255"], outside: ["172.15.255.255", "172.32.0.0"], "RFC 1918"),
    AddressCase("192.0.0.0/24", ["192.0.0.0", "192.0.0.170"], outside: ["191.255.255.255", "192.0.1.0"], "RFC 6890"),
    AddressCase("192.0.2.0/24", ["192.0.2.0", "192.0.2.255"], outside: ["192.0.1.255", "192.0.3.0"], "RFC 5737"),
    AddressCase("192.31.196.0/24", ["192.31.196.0", "192.31.196.255"], outside: ["192.31.195.255", "192.31.197.0"], "RFC 7535"),
    AddressCase("192.52.193.0/24", ["192.52.193.0", "192.52.193.255"], outside: ["192.52.192.255", "192.52.194.0"], "RFC 7450"),
    AddressCase("192.88.99.0/24", ["192.88.99.0", "192.88.99.255"], outside: ["192.88.98.255", "192.88.100.0"], "RFC 7526"),
    AddressCase("192.168.0.0/16", ["192.168.0.0", "192.168.255.255"], outside: ["192.167.255.255", "192.169.0.0"], "RFC 1918"),
    AddressCase("192.175.48.0/24", ["192.175.48.0", "192.175.48.255"], outside: ["192.175.47.255", "192.175.49.0"], "RFC 7534"),
    AddressCase("198.18.0.0/15", ["198.18.0.0", "198.19.255.255"], outside: ["198.17.255.255", "198.20.0.0"], "RFC 2544"),
    AddressCase("198.51.100.0/24", ["198.51.100.0", "198.51.100.255"], outside: ["198.51.99.255", "198.51.101.0"], "RFC 5737"),
    AddressCase("203.0.113.0/24", ["203.0.113.0", "203.0.113.255"], outside: ["203.0.112.255", "203.0.114.0"], "RFC 5737"),
    AddressCase("224.0.0.0/4", ["224.0.0.0", "239.255.255.255"], outside: ["223.255.255.255"], "RFC 5771"),
    AddressCase("240.0.0.0/4", ["240.0.0.0", "255.255.255.254"], "RFC 1112"),
    AddressCase("255.255.255.255/32", ["255.255.255.255"], "RFC 919"),
    AddressCase("::/128", ["::"], "RFC 4291"),
    AddressCase("::1/128", ["::1"], "RFC 4291"),
    AddressCase("::ffff:0:0/96", ["::ffff:8.8.8.8", "::ffff:127.0.0.1"], "RFC 4291"),
    AddressCase("::/96", ["::2", "::7f00:1", "::808:808"], "RFC 4291"),
    AddressCase("::ffff:0:0:0/96", ["::ffff:0:8.8.8.8", "::ffff:0:127.0.0.1"], "RFC 2765"),
    AddressCase("64:ff9b::/96", ["64:ff9b::8.8.8.8", "64:ff9b::127.0.0.1"], "RFC 6052"),
    AddressCase("64:ff9b:1::/48", ["64:ff9b:1::1", "64:ff9b:1:ffff::8.8.8.8"], "RFC 8215"),
    AddressCase("100::/64", ["100::1"], "RFC 6666"),
    AddressCase("100:0:0:1::/64", ["100:0:0:1::1"], "RFC 9780"),
    AddressCase("2001::/32", ["2001::1", "2001:0:ffff::8.8.8.8"], "RFC 4380"),
    AddressCase("2001:2::/48", ["2001:2::1"], "RFC 5180"),
    AddressCase("2001:10::/28", ["2001:10::1", "2001:1f::1"], "RFC 4843"),
    AddressCase("2001:20::/28", ["2001:20::1", "2001:2f::1"], "RFC 7343"),
    AddressCase(
      "2001::/23", ["2001:1::1", "2001:4:112::1", "2001:30::1", "2001:1ff::1"], outside: ["2000:ffff::1", "2001:200::1"], "RFC 2928"),
    AddressCase("2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::1"], outside: ["2001:db7::1", "2001:db9::1"], "RFC 3849"),
    AddressCase("2002::/16", ["2002:808:808::1", "2002:7f00:1::"], outside: ["2001:ffff::1", "2003::1"], "RFC 3056"),
    AddressCase("2620:4f:8000::/48", ["2620:4f:8000::1"], outside: ["2620:4f:7fff::1", "2620:4f:8001::1"], "RFC 7534"),
    AddressCase("3fff::/20", ["3fff::1", "3fff:fff::1"], outside: ["3ffe:ffff::1", "3fff:1000::1"], "RFC 9637"),
    AddressCase("5f00::/16", ["5f00::1"], "RFC 9602"),
    AddressCase("fc00::/7", ["fc00::1", "fdff::1"], "RFC 4193"),
    AddressCase("fe80::/10", ["fe80::1", "febf::1"], "RFC 4291"),
    AddressCase("fec0::/10", ["fec0::1", "feff::1"], "RFC 3879"),
    AddressCase("ff00::/8", ["ff00::1", "ff0e::1"], "RFC 4291"),
  ]
}

@Suite struct AddressGateTests {
  private let gate = AddressGate()

  private func refused(_ text: String, by gate: AddressGate) throws -> Refusal? {
    let address = try #require(IPAddress(text))
    return refusal { () throws(Refusal) in try gate.check(address) }
  }

  @Test(arguments: AddressCase.all)
  func `every special block is shut, with its source, and its public neighbours are open`(block: AddressCase) throws {
    for address in block.inside {
      let refusal = try #require(try refused(address, by: gate), "\(address)")
      #expect(refusal.reason == .policyAddress)
      #expect(refusal.message.contains("(\(block.source))"), "\(refusal.message)")
      #expect(refusal.message.contains("--allow-net \(try CIDR(block.block)) "), "\(refusal.message)")
    }
    for address in block.outside { #expect(try refused(address, by: gate) == nil, "\(address)") }
  }

  @Test func `every row of the table has a case`() throws {
    let blocks = try AddressCase.all.map { try CIDR($0.block) }
    #expect(Set(AddressClass.special.map(\.network)) == Set(blocks))
  }

  @Test(arguments: ["1::1", "1fff::1", "4000::1", "6000::1", "e000::1", "fe00::1", "fe7f::1"])
  func `IPv6 outside 2000::3 is shut although no block names it`(address: String) throws {
    #expect(try refused(address, by: gate)?.reason == .policyAddress)
  }

  @Test(arguments: ["2606:4700::5efe:8.8.8.8", "2606:4700::200:5efe:127.0.0.1", "2a00::1:0:5efe:a00:1"])
  func `ISATAP is shut`(address: String) throws {
    #expect(try refused(address, by: gate)?.message.contains("RFC 5214") == true)
  }

  @Test(arguments: ["2606:4700:0:0:0:5eff:808:808", "2606:4700::100:5efe:808:808", "2606:4700::1:5efe:808:808"])
  func `what only resembles ISATAP is open`(address: String) throws {
    #expect(try refused(address, by: gate) == nil)
  }

  @Test(arguments: [
    "2001:67c:2b0:db32:0:1:127.0.0.1", "2a00:1::10.0.0.1", "2a00:1::ff:ffff:192.168.1.2", "2a00:1::169.254.1.1", "2a00:1::100.64.0.1",
  ])
  func `an address of the form of NAT64 with an internal IPv4 inside is shut`(address: String) throws {
    #expect(try refused(address, by: gate)?.message.contains("RFC 6052") == true)
  }

  @Test(arguments: [
    "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001:82a::200e", "2600:1406:3a00:21::173e:2e65",
    "2606:2800:220:1:248:1893:25c8:1946", "2a03:2880:f12f:83:face:b00c:0:25de", "2620:fe::fe", "2a00:1:0:0:100:0:a00:1", "8.8.8.8",
    "93.184.216.34",
  ])
  func `public addresses are open`(address: String) throws {
    #expect(try refused(address, by: gate) == nil)
  }

  static let metadata = [
    "169.254.169.254", "169.254.169.123", "169.254.170.2", "169.254.170.23", "169.254.0.23", "169.254.10.10", "169.254.42.42",
    "100.100.100.200",
    "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200", "fe80::a9fe:a9fe",
    "::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0:169.254.169.254", "64:ff9b::169.254.169.254", "64:ff9b::168.63.129.16",
    "64:ff9b:1::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00:0", "2002:a9fe:a9fe::1",
    "2002:6464:64c8::", "2001:0:a9fe:a9fe::1", "2001:0:808:808:0:0:5601:5601", "2606:4700::5efe:169.254.169.254",
    "fe80::200:5efe:169.254.169.254", "2002:808:808::5efe:169.254.169.254", "2001::200:5efe:169.254.169.254",
    "64:ff9b:1:808:0:5efe:169.254.169.254",
    "2001:67c:2b0:db32:0:1:169.254.169.254", "fd12:3456::169.254.169.254",
  ]

  @Test(arguments: metadata)
  func `cloud metadata is shut whatever is allowed`(text: String) throws {
    let address = try #require(IPAddress(text))
    let nets = [try CIDR("0.0.0.0/0"), try CIDR("::/0"), try CIDR(text)]
    for gate in [gate, AddressGate(allowedNets: nets)] {
      #expect(refusal { () throws(Refusal) in try gate.check(address) }?.message.contains("cloud metadata") == true)
    }
  }

  @Test func `an allowed network is open, and nothing beside it`() throws {
    let gate = AddressGate(allowedNets: [try CIDR("127.0.0.0/8"), try CIDR("::1"), try CIDR("fd00::/8"), try CIDR("169.254.0.0/16")])
    for address in ["127.0.0.1", "127.255.255.255", "::1", "fd12::1", "169.254.1.1", "8.8.8.8"] {
      #expect(try refused(address, by: gate) == nil, "\(address)")
    }
    for address in ["10.0.0.1", "::2", "fc00::1", "::ffff:127.0.0.1", "169.254.169.254"] {
      #expect(try refused(address, by: gate)?.reason == .policyAddress, "\(address)")
    }
  }

  @Test func `an open form that embeds IPv4 is judged by what is inside`() throws {
    let form = [try CIDR("64:ff9b::/96"), try CIDR("2002::/16"), try CIDR("64:ff9b:1::/48")]
    let gate = AddressGate(allowedNets: form)
    for address in ["64:ff9b::8.8.8.8", "2002:808:808::1", "64:ff9b:1::8.8.8.8", "64:ff9b:1:808:8:800::"] {
      #expect(try refused(address, by: gate) == nil, "\(address)")
    }
    for address in ["64:ff9b::10.0.0.1", "2002:a00:1::1", "64:ff9b:1::127.0.0.1", "64:ff9b:1:7f00:0:100::"] {
      #expect(try refused(address, by: gate)?.reason == .policyAddress, "\(address)")
    }
    let both = AddressGate(allowedNets: form + [try CIDR("10.0.0.0/8")])
    #expect(try refused("64:ff9b::10.0.0.1", by: both) == nil)
    #expect(
      try refused("64:ff9b::192.168.0.1", by: both)?.message.hasPrefix("192.168.0.1, embedded in 64:ff9b::c0a8:1, is private") == true)
  }

  @Test func `an address of two forms is judged by what is inside of both`() throws {
    let gate = AddressGate(allowedNets: [try CIDR("2002::/16"), try CIDR("2001::/32")])
    #expect(try refused("2002:808:808::5efe:8.8.4.4", by: gate) == nil)
    for address in ["2002:808:808::5efe:10.0.0.1", "2001:0:808:808:200:5efe:192.168.0.1", "2002:a00:1::5efe:8.8.8.8"] {
      #expect(try refused(address, by: gate)?.reason == .policyAddress, "\(address)")
    }
  }

  @Test(arguments: [
    ["10.0.0.5"], ["127.0.0.1"], ["fd00::5"], ["::ffff:10.0.0.5"], ["10.0.0.9"], ["93.184.216.34", "10.0.0.5"], ["93.184.216.34", "::1"],
    Array(repeating: "93.184.216.34", count: 199) + ["10.0.0.5"],
  ])
  func `one bad address in an answer refuses the host`(answer: [String]) throws {
    let url = try URLGate(URLPolicy()).check("https://a.t/i.png")
    let addresses = try answer.map { try #require(IPAddress($0)) }
    #expect(refusal { () throws(Refusal) in try gate.check(answer: addresses, for: url) }?.reason == .policyAddress)
  }

  @Test func `an answer of public addresses passes`() throws {
    let url = try URLGate(URLPolicy()).check("https://a.t/i.png")
    let addresses = try ["93.184.216.34", "2606:4700:4700::1111"].map { try #require(IPAddress($0)) }
    try gate.check(answer: addresses, for: url)
  }

  @Test func `a socket address gives its address`() throws {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    #expect(address(in: v4) == IPAddress("127.0.0.1"))
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    #expect(unsafe inet_pton(AF_INET6, "2606:4700::1111", &v6.sin6_addr) == 1)
    #expect(address(in: v6) == IPAddress("2606:4700::1111"))
  }

  @Test func `a socket address of another family or cut short gives none`() {
    var local = sockaddr_un()
    local.sun_family = sa_family_t(AF_UNIX)
    #expect(address(in: local) == nil)
    var short = sockaddr_in()
    short.sin_family = sa_family_t(AF_INET6)
    #expect(address(in: short) == nil)
  }

  private func address<Socket>(in socketAddress: Socket) -> IPAddress? {
    unsafe withUnsafePointer(to: socketAddress) { pointer in
      unsafe IPAddress(socketAddress: UnsafeRawPointer(pointer), length: MemoryLayout<Socket>.size)
    }
  }
}
