// Opens and verifies what the sender made with the curves of NIST, and answers with what the sender can verify.
import CryptoKit
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let values = request.content.userInfo as? [String: Any] ?? [:]
    do {
      content.body = try lines(values).joined(separator: "\n")
    } catch {
      content.body = "\(error)"
    }
    contentHandler(content)
  }

  private func lines(_ values: [String: Any]) throws -> [String] {
    func text(_ name: String) -> String { values[name] as? String ?? "" }
    func bytes(_ name: String) -> Data { Data(base64Encoded: text(name)) ?? Data() }

    let own = try P256.KeyAgreement.PrivateKey(rawRepresentation: bytes("own"))
    let secret = try own.sharedSecretFromKeyAgreement(with: .init(x963Representation: bytes("peer")))
    let key = secret.hkdfDerivedSymmetricKey(using: SHA256.self, salt: Data(), sharedInfo: Data("media".utf8), outputByteCount: 32)
    let message = try AES.GCM.open(AES.GCM.SealedBox(combined: bytes("sealed")), using: key)

    let signer = try P256.Signing.PublicKey(pemRepresentation: text("signer"))
    let signature = try P256.Signing.ECDSASignature(derRepresentation: bytes("signature"))
    let answer = P256.Signing.PrivateKey()
    var code = HMAC<SHA256>(key: key)
    code.update(data: message.prefix(3))
    code.update(data: message.dropFirst(3))
    return try [
      String(decoding: message, as: UTF8.self),
      "\(signer.isValidSignature(signature, for: message)) \(signer.isValidSignature(signature, for: message + [0]))",
      answer.publicKey.pemRepresentation.components(separatedBy: "\n").joined(separator: " "),
      answer.signature(for: message).derRepresentation.base64EncodedString(),
      answer.signature(for: SHA256.hash(data: message)).rawRepresentation.base64EncodedString(),
      Data(code.finalize()).base64EncodedString(),
      ChaChaPoly.seal(message, using: key, nonce: .init(data: Data(0..<12)), authenticating: Data("more".utf8))
        .combined.base64EncodedString(),
      secret.x963DerivedSymmetricKey(using: SHA256.self, sharedInfo: Data("media".utf8), outputByteCount: 48)
        .withUnsafeBytes { Data($0).base64EncodedString() },
      kept(P256.self), kept(P384.self), kept(P521.self),
      refusals(),
    ]
  }

  /// Whether a key is the same in all of its forms.
  private func kept<Curve: NISTCurve>(_ curve: Curve.Type) throws -> String {
    let key = NISTSigning<Curve>.PrivateKey()
    let copies: [NISTSigning<Curve>.PrivateKey] = try [
      .init(rawRepresentation: key.rawRepresentation), .init(x963Representation: key.x963Representation),
      .init(derRepresentation: key.derRepresentation), .init(pemRepresentation: key.pemRepresentation),
    ]
    let half = key.publicKey
    let halves: [NISTSigning<Curve>.PublicKey] = try [
      .init(rawRepresentation: half.rawRepresentation), .init(compressedRepresentation: half.compressedRepresentation),
      .init(derRepresentation: half.derRepresentation), .init(pemRepresentation: half.pemRepresentation),
    ]
    let signatures = try copies.map { try $0.signature(for: Data("text".utf8)) }
    let areValid = zip(halves, signatures).allSatisfy { $0.isValidSignature($1, for: Data("text".utf8)) }
    return "\(Curve.self) \(areValid) \(copies.allSatisfy { $0.x963Representation == key.x963Representation })"
  }

  /// What is no key.
  private func refusals() throws -> String {
    func error(_ body: () throws -> Void) -> String {
      do {
        try body()
        return "none"
      } catch {
        return "\(error)"
      }
    }
    let other = P384.Signing.PrivateKey().publicKey.derRepresentation
    return [
      error { _ = try P256.Signing.PrivateKey(rawRepresentation: Data(count: 32)) },
      error { _ = try P256.Signing.PrivateKey(rawRepresentation: Data(repeating: .max, count: 32)) },
      error { _ = try P256.Signing.PrivateKey(rawRepresentation: Data(count: 31)) },
      error { _ = try P256.Signing.PublicKey(rawRepresentation: Data(repeating: 1, count: 64)) },
      error { _ = try P256.Signing.PublicKey(derRepresentation: other) },
      error { _ = try P256.Signing.ECDSASignature(derRepresentation: Data([0x30, 0x03, 0x02, 0x01, 0x05])) },
      error { _ = try P256.Signing.PublicKey(pemRepresentation: "-----BEGIN PUBLIC KEY-----") },
    ].joined(separator: " ")
  }
}
