/// Decides whether an address may be reached. Default deny: public addresses, and what
/// `--allow-net` opens.
///
/// It is asked about literals in URLs, about every DNS answer, and about every socket address
/// before it is connected.
public struct AddressGate: Sendable {
  /// The networks that may be reached although they are not public, on any port.
  public let allowedNets: [CIDR]

  /// Makes the gate with the networks of `--allow-net`.
  public init(allowedNets: [CIDR] = []) {
    self.allowedNets = allowedNets
  }

  /// Passes an address that may be reached.
  ///
  /// An IPv6 form that embeds IPv4 is refused as a form; where `allowedNets` opens the form, the
  /// IPv4 inside must pass too. Cloud metadata is refused whatever is allowed, embedded or not.
  ///
  /// - Throws: a refusal `policy.address`.
  public func check(_ address: IPAddress) throws(Refusal) {
    let inner = Self.embedded(in: address)
    for candidate in [address] + inner + Self.suspected(in: address) {
      if let row = AddressClass.metadata.first(where: { $0.network.contains(candidate) }) {
        throw Refusal(.policyAddress, "\(Self.name(address, meaning: candidate)) is \(row.name) (\(row.source)); nothing allows it")
      }
    }
    let shut = ([address] + inner).filter { !allowsAnyPort($0) }.compactMap { candidate in
      AddressClass.of(candidate).map { (candidate, $0) }
    }
    guard let (candidate, row) = shut.first else { return }
    throw Refusal(
      .policyAddress, "\(Self.name(address, meaning: candidate)) is \(row.name) (\(row.source))", remedy: .nets(shut.map(\.1.network)))
  }

  /// Passes an address to which the request for `url` may be sent: ``check(_:)``, and the URL's
  /// port is allowed there.
  ///
  /// - Throws: a refusal `policy.address` or `policy.port`.
  public func check(_ address: IPAddress, for url: CheckedURL) throws(Refusal) {
    try check(address)
    guard url.portIsAllowed || allowsAnyPort(address) else { throw URLGate.portRefusal(url.port) }
  }

  /// Passes the answer for the host of `url` when every address in it passes: one bad address
  /// refuses the host.
  ///
  /// - Throws: the refusal of the first bad address.
  public func check(answer: some Sequence<IPAddress>, for url: CheckedURL) throws(Refusal) {
    for address in answer { try check(address, for: url) }
  }

  /// Whether the address lies in a network that `--allow-net` opens, and so may be reached on any
  /// port.
  public func allowsAnyPort(_ address: IPAddress) -> Bool {
    allowedNets.contains { $0.contains(address) }
  }

  /// Whether an address may be reached whatever is allowed: ``check(_:)`` of the gate without
  /// networks, without the words.
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
