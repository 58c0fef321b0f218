extension FaultOrigin {
  /// Whether the origin speaks TLS, and how good its certificate and its demands are.
  public enum TLS: Sendable, Hashable {
    case none
    /// A good certificate for 127.0.0.1, ::1, localhost and these names, below a root made at the
    /// start.
    case selfMade(names: [String] = [])
    /// The same for these names and addresses alone.
    case named([String])
    /// As `selfMade`, but out of date since yesterday.
    case expired
    /// As `selfMade`, but from tomorrow on.
    case notYetValid
    /// A certificate for this name only.
    case misnamed(String)
    /// A certificate for this name, which stands in its subject alone.
    case commonName(String)
    /// A certificate that is its own root; the one in ``FaultOrigin/rootCertificatePEMFile`` is
    /// another.
    case selfSigned
    /// As `selfMade`, with 10,000 names more: above the 100 KB of certificates that OpenSSL reads.
    case manyNames
    /// As `selfMade`, with 90 KB of certificates behind it that nobody needs.
    case longChain
    /// For each of these names a certificate of its own, for who asks for it; a stranger's for who
    /// asks for none.
    case byName([String])
    /// As `selfMade`, and the client is asked for a certificate, too.
    case clientCertificate
    /// As `selfMade`, with TLS 1.1 at the most.
    case version11
  }
}

extension FaultOrigin.TLS {
  func certificates() throws(OriginError) -> Certificates? {
    try form.map { form throws(OriginError) in try Certificates(form) }
  }

  private static let own = ["127.0.0.1", "::1", "localhost"]

  private var form: LeafForm? {
    switch self {
    case .none: nil
    case .selfMade(let names): LeafForm(names: Self.own + names)
    case .named(let names): LeafForm(names: names)
    case .expired: LeafForm(names: Self.own, validity: .over)
    case .notYetValid: LeafForm(names: Self.own, validity: .ahead)
    case .misnamed(let name): LeafForm(names: [name])
    case .commonName(let name): LeafForm(names: [name], isNamedInSubjectAlone: true)
    case .selfSigned: LeafForm(names: Self.own, isSelfSigned: true)
    case .manyNames: LeafForm(names: Self.own + (1...10_000).map { "photo-\($0).example" })
    case .longChain: LeafForm(names: Self.own, ballast: 85)
    case .byName: LeafForm(names: ["another.example"])
    case .clientCertificate, .version11: LeafForm(names: Self.own)
    }
  }
}
