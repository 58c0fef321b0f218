internal import Attache
internal import COpenSSL

/// A root certificate and the leaf certificates that it signs.
struct CertificateAuthority: Sendable {
  /// An issued certificate: the leaf, the certificates sent after it, and the leaf's key.
  struct Issue {
    var chain: [Certificate]
    var key: CryptoKey

    /// The leaf's key in PEM form.
    var keyPEM: String {
      get throws(OriginError) {
        guard let text = key.privatePEM else { throw .certificate(reason: "libcrypto cannot write the key") }
        return text
      }
    }
  }

  let root: Certificate
  private let key: CryptoKey
  /// The root's file in a folder, and its key's.
  static let rootFile = "root.pem"
  private static let keyFile = "root.key"
  /// The name of the certificate that ``LeafForm/lacksIntermediate`` lacks.
  private static let intermediateName = "attache fault origin intermediate"

  /// Makes a root and its key.
  init() throws(OriginError) {
    let key = try Self.makeKey()
    self.init(root: try Self.makeRoot(key), key: key)
  }

  /// Uses the root in a folder, or makes one there.
  init(keptIn keys: KeyFolder) throws(OriginError) {
    let key = try keys.key(in: Self.keyFile, .es256)
    let text = try keys.text(of: Self.rootFile, mode: 0o644) { () throws(OriginError) -> String in try Self.makeRoot(key).pem }
    guard let root = Certificate(pem: text), root.isCertificate(of: key) else {
      throw .keys(keys[Self.rootFile], reason: "it is no certificate of \(Self.keyFile); remove it, and a new one is made")
    }
    self.init(root: root, key: key)
  }

  private init(root: Certificate, key: CryptoKey) {
    (self.root, self.key) = (root, key)
  }

  private static func makeRoot(_ key: CryptoKey) throws(OriginError) -> Certificate {
    // The name is unique: among roots with the same name, a client takes the first as the issuer.
    let name = "attache fault origin root \(UInt64.random(in: 0...UInt64.max))"
    let root = try Certificate(subject: name, key: key, days: -3...3_650)
    try root.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
    try root.add(NID_key_usage, "critical,keyCertSign,cRLSign")
    try root.sign(issuer: name, key)
    return root
  }

  func issue(_ form: LeafForm) throws(OriginError) -> Issue {
    let leafKey = try Self.makeKey()
    return Issue(chain: [try certificate(form, for: leafKey)] + (try ballast(form.ballast)), key: leafKey)
  }

  /// Returns a leaf certificate.
  ///
  /// - Parameter leafKey: signs the leaf if it is self-signed; else a public key is enough.
  func certificate(_ form: LeafForm, for leafKey: CryptoKey) throws(OriginError) -> Certificate {
    let subject = form.isNamedInSubjectAlone ? form.names.first ?? "" : "attache fault origin"
    let (begin, end) = (form.validity == .ahead ? 1 : -2, form.validity == .over ? -1 : 365)
    let leaf = try Certificate(subject: subject, key: leafKey, days: begin...end)
    try leaf.add(NID_basic_constraints, "critical,CA:FALSE")
    try leaf.add(NID_key_usage, "critical,digitalSignature")
    try leaf.add(NID_ext_key_usage, form.isClient ? "clientAuth" : "serverAuth")
    if !form.isNamedInSubjectAlone { try leaf.add(names: form.names) }
    if form.lacksIntermediate { try leaf.add(NID_info_access, "caIssuers;URI:http://authority.example/intermediate.crt") }
    if form.isSelfSigned {
      try leaf.sign(issuer: subject, leafKey)
    } else if form.lacksIntermediate {
      try leaf.sign(issuer: Self.intermediateName, Self.makeKey())
    } else {
      try leaf.sign(issuer: root.subject, key)
    }
    return leaf
  }

  /// Returns certificates of about 1,000 bytes each.
  private func ballast(_ count: Int) throws(OriginError) -> [Certificate] {
    guard count > 0 else { return [] }
    let names = (0..<12).map { "ballast-\($0)-" + String(repeating: "x", count: 40) + ".example" }
    let one = try certificate(LeafForm(names: names), for: key)
    return Array(repeating: one, count: count)
  }

  private static func makeKey() throws(OriginError) -> CryptoKey {
    guard let key = CryptoKey.makeP256() else { throw .certificate(reason: "libcrypto makes no key") }
    return key
  }
}
