internal import Attache
internal import Crypto
internal import FoundationEssentials
internal import Glibc
internal import NIOSSL
internal import SwiftASN1
internal import X509

/// A root certificate and a leaf below it, made for one origin. The root lies in a file of its own while the origin runs.
final class Certificates: Sendable {
  /// The PEM file of the root, for `--cacert`.
  let rootFile: String
  private let folder: String
  private let leaf: NIOSSLCertificate
  private let key: NIOSSLPrivateKey

  /// - Parameters:
  ///   - names: DNS names and addresses that the leaf is for.
  ///   - isExpired: whether the leaf's time was over a day ago.
  init(names: [String], isExpired: Bool) throws(OriginError) {
    do {
      let (root, leaf, key) = try Self.make(names: names, isExpired: isExpired)
      self.leaf = try NIOSSLCertificate(bytes: Array(leaf.serializeAsPEM().pemString.utf8), format: .pem)
      self.key = try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)
      (folder, rootFile) = try Self.write(root.serializeAsPEM().pemString)
    } catch {
      throw .certificate(reason: "\(error)")
    }
  }

  /// - Parameter protocols: what ALPN offers, the best first.
  func context(protocols: [String]) throws(OriginError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: [.certificate(leaf)], privateKey: .privateKey(key))
    configuration.applicationProtocols = protocols
    do { return try NIOSSLContext(configuration: configuration) } catch { throw .certificate(reason: "\(error)") }
  }

  /// Removes the root's file.
  func remove() {
    unsafe unlink(rootFile)
    unsafe rmdir(folder)
  }

  private static func make(names: [String], isExpired: Bool) throws -> (root: Certificate, leaf: Certificate, P256.Signing.PrivateKey) {
    let (rootKey, leafKey) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    // A name of its own: of roots with one name, a client takes the first for the issuer.
    let rootName = try DistinguishedName { CommonName("attache fault origin root \(UInt64.random(in: 0...UInt64.max))") }
    let day = 86_400.0
    let root = try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(rootKey.publicKey), notValidBefore: Date().addingTimeInterval(-3 * day),
      notValidAfter: Date().addingTimeInterval(30 * day), issuer: rootName, subject: rootName, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
      }, issuerPrivateKey: .init(rootKey))
    let leaf = try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(leafKey.publicKey), notValidBefore: Date().addingTimeInterval(-2 * day),
      notValidAfter: Date().addingTimeInterval(isExpired ? -day : 30 * day), issuer: rootName,
      subject: try DistinguishedName { CommonName("attache fault origin") }, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: try Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth])
        SubjectAlternativeNames(names.map(alternativeName))
      }, issuerPrivateKey: .init(rootKey))
    return (root, leaf, leafKey)
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

  /// Writes the root into a new folder of its own.
  private static func write(_ pem: String) throws(OriginError) -> (folder: String, file: String) {
    var template = Array("\(temporaryFolder)/attache-origin-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .certificate(reason: "no temporary folder: errno \(errno)") }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let file = "\(folder)/root.pem"
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .certificate(reason: "\(file): errno \(errno)") }
    defer { close(descriptor) }
    let bytes = Array(pem.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw .certificate(reason: "\(file): errno \(errno)") }
    return (folder, file)
  }

  private static var temporaryFolder: String {
    unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
  }
}
