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
