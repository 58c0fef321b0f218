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
