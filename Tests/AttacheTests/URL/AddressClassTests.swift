import Testing

@testable import Attache

/// A class of addresses that a payload must never reach, by its number in the list of 39.
struct NumberedClass: Sendable, CustomTestStringConvertible {
  /// The addresses just outside.
  enum Outside: Sendable {
    case open([String])
    /// The neighbours are refused too, for this reason.
    case shut(String)
  }

  let number: Int
  let block: String
  let inside: [String]
  let outside: Outside
  let source: String
  /// Addresses that no flag allows.
  var metadata: [String] = []

  init(_ number: Int, _ block: String, _ inside: [String], _ outside: Outside, _ source: String, metadata: [String] = []) {
    (self.number, self.block, self.inside, self.outside, self.source) = (number, block, inside, outside, source)
    self.metadata = metadata
  }

  var testDescription: String { "\(number): \(block)" }

  static let all: [NumberedClass] = [
    NumberedClass(1, "0.0.0.0/8", ["0.0.0.0", "0.255.255.255"], .open(["1.0.0.0"]), "RFC 1122"),
    NumberedClass(2, "10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], .open(["9.255.255.255", "11.0.0.0"]), "RFC 1918"),
    NumberedClass(
      3, "100.64.0.0/10", ["100.64.0.0", "100.127.255.255"], .open(["100.63.255.255", "100.128.0.0"]), "RFC 6598",
      metadata: ["100.100.100.200"]),
    NumberedClass(4, "127.0.0.0/8", ["127.0.0.0", "127.255.255.255"], .open(["126.255.255.255", "128.0.0.0"]), "RFC 1122"),
    NumberedClass(
      5, "169.254.0.0/16", ["169.254.0.0", "169.254.255.255"], .open(["169.253.255.255", "169.255.0.0"]), "RFC 3927",
      metadata: ["169.254.169.254", "169.254.170.2", "169.254.170.23"]),
    NumberedClass(6, "172.16.0.0/12", ["172.16.0.0", "172.31.255.255"], .open(["172.15.255.255", "172.32.0.0"]), "RFC 1918"),
    NumberedClass(
      7, "192.0.0.0/24", ["192.0.0.0", "192.0.0.255"], .open(["191.255.255.255", "192.0.1.0"]), "RFC 6890", metadata: ["192.0.0.192"]),
    NumberedClass(8, "192.0.2.0/24", ["192.0.2.0", "192.0.2.255"], .open(["192.0.1.255", "192.0.3.0"]), "RFC 5737"),
    NumberedClass(9, "192.88.99.0/24", ["192.88.99.0", "192.88.99.255"], .open(["192.88.98.255", "192.88.100.0"]), "RFC 7526"),
    NumberedClass(10, "192.168.0.0/16", ["192.168.0.0", "192.168.255.255"], .open(["192.167.255.255", "192.169.0.0"]), "RFC 1918"),
    NumberedClass(11, "198.18.0.0/15", ["198.18.0.0", "198.19.255.255"], .open(["198.17.255.255", "198.20.0.0"]), "RFC 2544"),
    NumberedClass(12, "198.51.100.0/24", ["198.51.100.0", "198.51.100.255"], .open(["198.51.99.255", "198.51.101.0"]), "RFC 5737"),
    NumberedClass(13, "203.0.113.0/24", ["203.0.113.0", "203.0.113.255"], .open(["203.0.112.255", "203.0.114.0"]), "RFC 5737"),
    NumberedClass(14, "224.0.0.0/4", ["224.0.0.0", "239.255.255.255"], .open(["223.255.255.255"]), "RFC 5771"),
    NumberedClass(15, "240.0.0.0/4", ["240.0.0.0", "255.255.255.254"], .shut("multicast lies below it and nothing above"), "RFC 1112"),
    NumberedClass(
      16, "255.255.255.255/32", ["255.255.255.255"], .shut("it is the last address, and reserved ones lie below it"), "RFC 919"),
    NumberedClass(
      17, "168.63.129.16/32", [], .open(["168.63.129.15", "168.63.129.17"]), "Azure: the host's service", metadata: ["168.63.129.16"]),
    NumberedClass(18, "::/128", ["::"], .shut("it is the first address, and loopback follows"), "RFC 4291"),
    NumberedClass(19, "::1/128", ["::1"], .shut("::/96 surrounds it"), "RFC 4291"),
    NumberedClass(
      20, "::ffff:0:0/96", ["::ffff:0.0.0.0", "::ffff:10.0.0.1", "::ffff:255.255.255.255"],
      .shut("it lies outside 2000::/3, which is shut"), "RFC 4291"),
    NumberedClass(21, "::/96", ["::2", "::8.8.8.8", "::255.255.255.255"], .shut("it lies outside 2000::/3, which is shut"), "RFC 4291"),
    NumberedClass(
      22, "::ffff:0:0:0/96", ["::ffff:0:0:0", "::ffff:0:ffff:ffff"], .shut("it lies outside 2000::/3, which is shut"), "RFC 2765"),
    NumberedClass(23, "64:ff9b::/96", ["64:ff9b::", "64:ff9b::ffff:ffff"], .shut("it lies outside 2000::/3, which is shut"), "RFC 6052"),
    NumberedClass(
      24, "64:ff9b:1::/48", ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"], .shut("it lies outside 2000::/3, which is shut"),
      "RFC 8215"),
    NumberedClass(25, "100::/64", ["100::", "100::ffff:ffff:ffff:ffff"], .shut("it lies outside 2000::/3, which is shut"), "RFC 6666"),
    NumberedClass(
      26, "2001::/32", ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"], .open(["2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]), "RFC 4380"),
    NumberedClass(27, "2001:2::/48", ["2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"], .shut("2001::/23 surrounds it"), "RFC 5180"),
    NumberedClass(28, "2001:10::/28", ["2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff"], .shut("2001::/23 surrounds it"), "RFC 4843"),
    NumberedClass(29, "2001:20::/28", ["2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"], .shut("2001::/23 surrounds it"), "RFC 7343"),
    NumberedClass(
      30, "2001::/23", ["2001:1::1", "2001:30::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"], .open(["2000:ffff::1", "2001:200::"]),
      "RFC 2928"),
    NumberedClass(
      31, "2001:db8::/32", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
      .open(["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"]), "RFC 3849"),
    NumberedClass(
      32, "2002::/16", ["2002::", "2002:808:808::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
      .open(["2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"]), "RFC 3056"),
    NumberedClass(
      33, "3fff::/20", ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
      .open(["3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"]), "RFC 9637"),
    NumberedClass(34, "5f00::/16", ["5f00::", "5f00:ffff::1"], .shut("it lies outside 2000::/3, which is shut"), "RFC 9602"),
    NumberedClass(
      35, "fc00::/7", ["fc00::", "fdff:ffff::1"], .shut("it lies outside 2000::/3, which is shut"), "RFC 4193", metadata: ["fd00:ec2::254"]),
    NumberedClass(36, "fe80::/10", ["fe80::", "febf:ffff::1"], .shut("it lies outside 2000::/3, which is shut"), "RFC 4291"),
    NumberedClass(37, "fec0::/10", ["fec0::", "feff:ffff::1"], .shut("it lies outside 2000::/3, which is shut"), "RFC 3879"),
    NumberedClass(
      38, "ff00::/8", ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], .shut("it is at the end, outside 2000::/3, which is shut"),
      "RFC 4291"),
    NumberedClass(
      39, "::5efe:0:0 and ::200:5efe:0:0, under every prefix", ["2606:4700::5efe:8.8.8.8", "2606:4700::200:5efe:127.0.0.1"],
      .open(["2606:4700::5efd:808:808", "2606:4700::5eff:808:808", "2606:4700::100:5efe:808:808"]), "RFC 5214"),
  ]
}

@Suite struct AddressClassTests {
  private func refusal(of text: String, by gate: AddressGate = AddressGate()) throws -> Refusal? {
    let address = try #require(IPAddress(text), "\(text)")
    do throws(Refusal) {
      try gate.check(address)
      return nil
    } catch {
      return error
    }
  }

  @Test func `there are 39 classes, each with its number`() {
    #expect(NumberedClass.all.map(\.number) == Array(1...39))
    #expect(NumberedClass.all.allSatisfy { !$0.inside.isEmpty || !$0.metadata.isEmpty })
  }

  @Test(arguments: NumberedClass.all)
  func `a class is shut up to its edges, by the RFC that says so, and what is just outside is open`(row: NumberedClass) throws {
    for address in row.inside {
      let refusal = try #require(try refusal(of: address), "\(address)")
      #expect(refusal.reason == .policyAddress)
      #expect(refusal.message.contains(row.source), "\(address): \(refusal.message)")
    }
    if case .open(let neighbours) = row.outside {
      for address in neighbours { #expect(try refusal(of: address) == nil, "\(address)") }
    }
    let everything = AddressGate(allowedNets: [try CIDR("0.0.0.0/0"), try CIDR("::/0")] + (try row.metadata.map { try CIDR($0) }))
    for address in row.metadata {
      #expect(try refusal(of: address, by: everything)?.message.contains("no flag allows it") == true, "\(address)")
    }
  }
}
