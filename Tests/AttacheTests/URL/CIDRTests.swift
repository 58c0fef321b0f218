import Testing

@testable import Attache

@Suite struct CIDRTests {
  private func error(_ text: String) -> CIDRError? {
    do throws(CIDRError) {
      _ = try CIDR(text)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("127.0.0.0/8", "127.0.0.0", "127.255.255.255", "128.0.0.0"), ("10.1.2.3", "10.1.2.3", "10.1.2.3", "10.1.2.4"),
    ("192.168.4.0/22", "192.168.4.0", "192.168.7.255", "192.168.8.0"), ("0.0.0.0/1", "0.0.0.0", "127.255.255.255", "128.0.0.0"),
    ("::1/128", "::1", "::1", "::2"), ("fd00::/8", "fd00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"),
    ("2001:db8::/33", "2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", "2001:db8:8000::"), ("::1", "::1", "::1", "::"),
  ])
  func `a network holds its first and last address and not the next`(text: String, first: String, last: String, next: String) throws {
    let network = try CIDR(text)
    #expect(network.contains(try #require(IPAddress(first))))
    #expect(network.contains(try #require(IPAddress(last))))
    #expect(!network.contains(try #require(IPAddress(next))))
  }

  @Test func `a prefix of no bits holds its whole family and nothing of the other`() throws {
    let (v4, v6) = (try CIDR("0.0.0.0/0"), try CIDR("::/0"))
    let addresses = (try #require(IPAddress("255.255.255.255")), try #require(IPAddress("::ffff:127.0.0.1")))
    #expect(v4.contains(addresses.0) && !v4.contains(addresses.1))
    #expect(v6.contains(addresses.1) && !v6.contains(addresses.0))
  }

  @Test func `bits beyond the prefix are refused with the network meant`() throws {
    #expect(error("127.0.0.1/8") == .hostBits("127.0.0.1/8", meant: try CIDR("127.0.0.0/8")))
    #expect(error("fd00::1/8")?.description == "'fd00::1/8' has bits set beyond its prefix; write fd00::/8 for the network")
  }

  @Test(arguments: [
    "", "/", "/8", "127.0.0.0/", "127.0.0.0/33", "::/129", "127.0.0.0/08", "127.0.0.0/+8", "127.0.0.0/-1", "127.0.0.0/8/8",
    "127.1/8", "127.0.0.0/255.0.0.0", "0x7f000000/8", "127.0.0.0 /8", "[::1]/128", "fe80::1%eth0", "localhost", "127.0.0.0/8\n",
    "127.0.0.0/18446744073709551624",
  ])
  func `what is no network is refused`(text: String) {
    #expect(error(text) != nil)
  }

  @Test(arguments: [
    ("::", "::"), ("0:0:0:0:0:0:0:1", "::1"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("1:0:0:0:0:0:0:0", "1::"), ("0:0:1::", "0:0:1::"), ("::ffff:7f00:1", "::ffff:127.0.0.1"),
    ("64:ff9b::127.0.0.1", "64:ff9b::7f00:1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("198.51.100.7", "198.51.100.7"),
  ])
  func `an address has one canonical text`(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(address.description) == address)
  }

  @Test(arguments: [
    "", ":", ":::", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.", "1..2.3", "1.2.3.4 ", "0x1.2.3.4", "::1.2.3",
    "1.2.3.4::", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2:3:4:5:6:7:8", "12345::", "::g", "1:", ":1", "::1%1", "[::1]", "::+1",
    "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "١.2.3.4",
  ])
  func `what is no address is refused`(text: String) {
    #expect(IPAddress(text) == nil)
  }
}
