extension FaultOrigin {
  /// Whether the origin uses TLS, the quality of its certificate, and its requirements.
  public enum TLS: Sendable, Hashable {
    /// No TLS.
    case none
    /// A valid certificate for 127.0.0.1, ::1, localhost and these names, signed by a root made at
    /// the start.
    case selfMade(names: [String] = [])
    /// The same for only these names and addresses.
    case named([String])
    /// Like `selfMade`, but expired since yesterday.
    case expired
    /// Like `selfMade`, but valid only from tomorrow.
    case notYetValid
    /// A certificate for this name only.
    case misnamed(String)
    /// A certificate that has this name only in its subject.
    case commonName(String)
    /// A self-signed certificate. The root in ``FaultOrigin/rootCertificatePEMFile`` is a different
    /// one.
    case selfSigned
    /// A certificate that an intermediate one signed, which the origin does not send.
    case withoutIntermediate
    /// Like `selfMade`, with 10,000 additional names. It exceeds the 100 KB of certificates that
    /// OpenSSL reads.
    case manyNames
    /// Like `selfMade`, followed by 90 KB of unneeded certificates.
    case longChain
    /// A separate certificate for each of these names, served to clients that ask for it. Other
    /// clients get a certificate for an unrelated name.
    case byName([String])
    /// Like `selfMade`, and the origin also requires a client certificate.
    case clientCertificate
    /// Like `selfMade`, with TLS 1.1 at most.
    case version11
  }
}

extension FaultOrigin.TLS {
  /// - Parameter keys: keeps the root; nil makes a new one.
  func certificates(keptIn keys: KeyFolder? = nil) throws(OriginError) -> Certificates? {
    try form.map { form throws(OriginError) in try Certificates(form, keptIn: keys) }
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
    case .withoutIntermediate: LeafForm(names: Self.own, lacksIntermediate: true)
    case .manyNames: LeafForm(names: Self.own + (1...10_000).map { "photo-\($0).example" })
    case .longChain: LeafForm(names: Self.own, ballast: 85)
    case .byName: LeafForm(names: ["another.example"])
    case .clientCertificate, .version11: LeafForm(names: Self.own)
    }
  }
}
