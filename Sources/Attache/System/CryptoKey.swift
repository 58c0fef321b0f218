internal import COpenSSL

/// A private or public key, held by libcrypto.
///
/// It never changes, and libcrypto counts references to it atomically, so that several threads may use it.
@safe
package final class CryptoKey: @unchecked Sendable {
  /// The `EVP_PKEY`.
  package let handle: OpaquePointer

  private init?(_ handle: OpaquePointer?) {
    // The caller learns of the failure by nil; errors that stay would be taken for those of TLS.
    ERR_clear_error()
    guard let handle = unsafe handle else { return nil }
    unsafe self.handle = handle
  }

  deinit {
    unsafe EVP_PKEY_free(handle)
  }

  /// Makes a private key for ECDSA over P-256; nil if libcrypto cannot, as without memory.
  package static func makeP256() -> CryptoKey? {
    unsafe CryptoKey(EVP_EC_gen_shim("P-256"))
  }

  /// Makes a private RSA key of 2,048 bits; nil if libcrypto cannot, as without memory.
  package static func makeRSA() -> CryptoKey? {
    unsafe CryptoKey(EVP_RSA_gen_shim(2_048))
  }

  /// Parses a private key in PEM form without a passphrase; nil if the text is not one.
  package convenience init?(privatePEM text: String) {
    unsafe self.init(OpenSSLText.read(text) { unsafe PEM_read_bio_PrivateKey($0, nil, Self.noPassphrase, nil) })
  }

  /// Parses a public key in PEM form; nil if the text is not one.
  package convenience init?(publicPEM text: String) {
    unsafe self.init(OpenSSLText.read(text) { unsafe PEM_read_bio_PUBKEY($0, nil, Self.noPassphrase, nil) })
  }

  /// Without this, libcrypto would ask for a passphrase on the terminal.
  private static let noPassphrase: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
    _, _, _, _ in 0
  }

  /// The private key in PEM form, as PKCS #8; nil for a public key.
  package var privatePEM: String? {
    defer { ERR_clear_error() }
    return unsafe OpenSSLText.write { unsafe PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) }
  }

  /// How a key signs (RFC 7518, 3.1).
  package enum Algorithm: String {
    /// ECDSA over P-256 with SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
  }

  /// The algorithm that suits the key; nil for a key of another kind.
  package var algorithm: Algorithm? {
    if isP256 { return .es256 }
    return unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_RSA ? .rs256 : nil
  }

  /// Whether this is a key for the curve P-256.
  private var isP256: Bool {
    var (name, length) = ([CChar](repeating: 0, count: 32), 0)
    defer { ERR_clear_error() }
    guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 else { return false }
    return name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar(bitPattern: $0) })
  }

  /// The bytes of each of the two numbers of a signature with ES256.
  private static let half: CInt = 32

  /// Signs bytes with the key's ``algorithm``.
  ///
  /// - Returns: the signature as in a JSON Web Signature: 64 bytes with ES256, as many as the modulus has with
  ///   RS256. Nil if libcrypto cannot sign, or if the key suits no algorithm.
  package func signature(of bytes: [UInt8]) -> [UInt8]? {
    guard let algorithm, let context = unsafe EVP_MD_CTX_new() else { return nil }
    defer {
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    var length = 0
    guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
      unsafe EVP_DigestSign(context, nil, &length, bytes, bytes.count) == 1
    else { return nil }
    var signature = [UInt8](repeating: 0, count: length)
    guard unsafe EVP_DigestSign(context, &signature, &length, bytes, bytes.count) == 1 else { return nil }
    signature.removeLast(signature.count - length)
    return algorithm == .es256 ? Self.numbers(ofDER: signature) : signature
  }

  /// Returns the two numbers of an ECDSA signature (RFC 7518, 3.4).
  private static func numbers(ofDER der: [UInt8]) -> [UInt8]? {
    unsafe der.withUnsafeBufferPointer { der in
      var start = der.baseAddress
      guard let numbers = unsafe d2i_ECDSA_SIG(nil, &start, der.count) else { return nil }
      defer { unsafe ECDSA_SIG_free(numbers) }
      var (first, second) = ([UInt8](repeating: 0, count: Int(half)), [UInt8](repeating: 0, count: Int(half)))
      guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(numbers), &first, half) == half,
        unsafe BN_bn2binpad(ECDSA_SIG_get0_s(numbers), &second, half) == half
      else { return nil }
      return first + second
    }
  }

  /// Returns whether a signature with the key's ``algorithm`` is that of the bytes.
  package func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard let algorithm, let signature = algorithm == .es256 ? Self.der(ofNumbers: signature) : signature,
      let context = unsafe EVP_MD_CTX_new()
    else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }

  private static func der(ofNumbers signature: [UInt8]) -> [UInt8]? {
    let count = Int(half)
    guard signature.count == 2 * count, let numbers = unsafe ECDSA_SIG_new() else { return nil }
    defer { unsafe ECDSA_SIG_free(numbers) }
    let first = unsafe BN_bin2bn(Array(signature[..<count]), half, nil)
    let second = unsafe BN_bin2bn(Array(signature[count...]), half, nil)
    guard unsafe ECDSA_SIG_set0(numbers, first, second) == 1 else {
      unsafe BN_free(first)
      unsafe BN_free(second)
      return nil
    }
    var der: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_ECDSA_SIG(numbers, &der)
    defer { unsafe CRYPTO_free(der, nil, 0) }
    return unsafe length > 0 ? Array(UnsafeBufferPointer(start: der, count: Int(length))) : nil
  }
}
