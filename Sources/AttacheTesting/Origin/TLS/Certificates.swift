internal import Attache
internal import Glibc
internal import NIOCore
internal import NIOSSL

/// The certificates of one origin, signed by the origin's own root. The root is stored in a file
/// while the origin runs, or is kept in a folder.
final class Certificates: Sendable {
  /// The PEM file of the root, for `--cacert`.
  let rootFile: String
  private let folder: String
  /// Whether the root's file remains.
  private let isKept: Bool
  private let authority: CertificateAuthority
  private let form: LeafForm
  private let leaf: TLSIdentity

  /// - Parameters:
  ///   - form: the certificate for clients that ask for no other name.
  ///   - keys: keeps the root; nil makes a new one.
  init(_ form: LeafForm, keptIn keys: KeyFolder? = nil) throws(OriginError) {
    (self.form, isKept) = (form, keys != nil)
    if let keys {
      authority = try CertificateAuthority(keptIn: keys)
      (folder, rootFile) = (keys.path, keys[CertificateAuthority.rootFile])
    } else {
      authority = try CertificateAuthority()
      (folder, rootFile) = try Self.write(authority.root.pem)
    }
    leaf = try TLSIdentity(authority.issue(form))
  }

  /// Creates the TLS context.
  ///
  /// - Parameters:
  ///   - protocols: the protocols that ALPN offers, in order of preference.
  ///   - tls: further behavior and requirements of the origin.
  func context(protocols: [String], for tls: FaultOrigin.TLS) throws(OriginError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: leaf.chain, privateKey: leaf.key)
    configuration.applicationProtocols = protocols
    do {
      switch tls {
      case .byName(let names): configuration.sslContextCallback = try identities(of: names)
      case .clientCertificate:
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .file(rootFile)
      case .version11: (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (.tlsv1, .tlsv11)
      default: break
      }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .certificate(reason: "\(error)")
    }
  }

  /// Returns the bytes sent instead of a handshake; nil for a real handshake.
  func flight(for fault: ConnectionFault?) throws(OriginError) -> ServerFlight? {
    switch fault {
    case .nullCipher: .withoutEncryption
    case .shortKey: .withShortKey(try strangersLeaf())
    case .silence, .reset, .drip, .falseProtocol, nil: nil
    }
  }

  /// Returns a valid leaf certificate for a key that nobody holds, in DER form.
  private func strangersLeaf() throws(OriginError) -> [UInt8] {
    guard let key = CryptoKey(publicPEM: ServerFlight.strangersKey) else { throw .certificate(reason: "no public key") }
    return try authority.certificate(form, for: key).der
  }

  /// Writes a PEM file with a client certificate, signed by the root, and its key. It is removed
  /// with the root's file.
  func clientFile() throws(OriginError) -> String {
    // A server that was killed leaves it in a folder that is kept.
    unsafe unlink(clientFilePath)
    let issue = try authority.issue(LeafForm(names: ["client.example"], isClient: true))
    try Self.write(
      issue.chain.map { certificate throws(OriginError) in try certificate.pem }.joined() + issue.keyPEM, to: clientFilePath
    )
    return clientFilePath
  }

  private var clientFilePath: String { "\(folder)/client.pem" }

  /// Removes the files.
  func remove() {
    guard !isKept else { return }
    unsafe unlink(clientFilePath)
    unsafe unlink(rootFile)
    unsafe rmdir(folder)
  }

  /// Creates a certificate for each name. It is served to clients that ask for that name (RFC 6066,
  /// 3).
  private func identities(of names: [String]) throws(OriginError) -> NIOSSLContextCallback {
    var identities: [String: TLSIdentity] = [:]
    for name in names { identities[name] = try TLSIdentity(authority.issue(LeafForm(names: [name]))) }
    return { [identities] client, promise in
      var change = NIOSSLContextConfigurationOverride.noChanges
      if let identity = client.serverHostname.flatMap({ identities[$0] }) {
        (change.certificateChain, change.privateKey) = (identity.chain, identity.key)
      }
      promise.succeed(change)
    }
  }

  /// Writes the root into a new folder.
  private static func write(_ pem: String) throws(OriginError) -> (folder: String, file: String) {
    var template = Array("\(temporaryFolder)/attache-origin-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .certificate(reason: "no temporary folder: errno \(errno)") }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let file = "\(folder)/root.pem"
    try write(pem, to: file)
    return (folder, file)
  }

  private static func write(_ pem: String, to file: String) throws(OriginError) {
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .certificate(reason: "\(file): errno \(errno)") }
    defer { close(descriptor) }
    let bytes = Array(pem.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw .certificate(reason: "\(file): errno \(errno)") }
  }

  private static var temporaryFolder: String {
    unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
  }
}

/// A chain of certificates and the leaf's key, in the TLS library's types.
private struct TLSIdentity: Sendable {
  let chain: [NIOSSLCertificateSource]
  let key: NIOSSLPrivateKeySource

  init(_ issue: CertificateAuthority.Issue) throws(OriginError) {
    do {
      // In DER form it would take no certificate of more than 100 KB.
      chain = try issue.chain.map { .certificate(try NIOSSLCertificate(bytes: Array($0.pem.utf8), format: .pem)) }
      key = .privateKey(try NIOSSLPrivateKey(bytes: Array(issue.keyPEM.utf8), format: .pem))
    } catch {
      throw .certificate(reason: "\(error)")
    }
  }
}
