internal import Attache
internal import Crypto
internal import FoundationEssentials
internal import SwiftASN1
internal import X509

/// A root certificate and the leaf certificates that it signs.
struct CertificateAuthority: Sendable {
  /// An issued certificate: the leaf, the certificates sent after it, and the leaf's key.
  struct Issue {
    var chain: [Certificate]
    var key: P256.Signing.PrivateKey
  }

  let root: Certificate
  private let key: P256.Signing.PrivateKey
  private static let day = 86_400.0
  /// The name of the certificate that ``LeafForm/lacksIntermediate`` lacks.
  private static let intermediateName = "attache fault origin intermediate"

  init() throws {
    key = P256.Signing.PrivateKey()
    // The name is unique: among roots with the same name, a client takes the first as the issuer.
    let name = try DistinguishedName { CommonName("attache fault origin root \(UInt64.random(in: 0...UInt64.max))") }
    root = try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: Self.days(-3), notValidAfter: Self.days(30),
      issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
      }, issuerPrivateKey: .init(key))
  }

  func issue(_ form: LeafForm) throws -> Issue {
    let leafKey = P256.Signing.PrivateKey()
    let leaf = try certificate(form, for: .init(leafKey.publicKey), key: leafKey)
    return Issue(chain: [leaf] + (try ballast(form.ballast)), key: leafKey)
  }

  /// Returns a leaf certificate for a key that somebody else holds.
  func certificate(_ form: LeafForm, for publicKey: Certificate.PublicKey) throws -> Certificate {
    try certificate(form, for: publicKey, key: key)
  }

  /// - Parameter key: signs the leaf if it is self-signed.
  private func certificate(
    _ form: LeafForm, for publicKey: Certificate.PublicKey, key leafKey: P256.Signing.PrivateKey
  ) throws -> Certificate {
    let common = form.isNamedInSubjectAlone ? form.names.first ?? "" : "attache fault origin"
    let subject = try DistinguishedName { CommonName(common) }
    let missing = try DistinguishedName { CommonName(Self.intermediateName) }
    return try Certificate(
      version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: Self.days(form.validity == .ahead ? 1 : -2),
      notValidAfter: Self.days(form.validity == .over ? -1 : 30),
      issuer: form.isSelfSigned ? subject : form.lacksIntermediate ? missing : root.subject, subject: subject,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([form.isClient ? .clientAuth : .serverAuth])
        if !form.isNamedInSubjectAlone { SubjectAlternativeNames(form.names.map(Self.alternativeName)) }
        if form.lacksIntermediate {
          AuthorityInformationAccess([
            .init(method: .issuingCA, location: .uniformResourceIdentifier("http://authority.example/intermediate.crt"))
          ])
        }
      }, issuerPrivateKey: .init(form.isSelfSigned ? leafKey : form.lacksIntermediate ? P256.Signing.PrivateKey() : key))
  }

  /// Returns certificates of about 1,000 bytes each.
  private func ballast(_ count: Int) throws -> [Certificate] {
    guard count > 0 else { return [] }
    let names = (0..<12).map { "ballast-\($0)-" + String(repeating: "x", count: 40) + ".example" }
    let one = try certificate(LeafForm(names: names), for: .init(key.publicKey))
    return Array(repeating: one, count: count)
  }

  private static func days(_ count: Double) -> Date {
    Date().addingTimeInterval(count * day)
  }

  private static func alternativeName(_ name: String) -> GeneralName {
    func octets(_ number: some FixedWidthInteger) -> GeneralName {
      .ipAddress(ASN1OctetString(contentBytes: unsafe withUnsafeBytes(of: number.bigEndian) { unsafe ArraySlice($0) }))
    }
    return switch IPAddress(name) {
    case .v4(let bits): octets(bits)
    case .v6(let bits): octets(bits)
    case nil: .dnsName(name)
    }
  }
}
