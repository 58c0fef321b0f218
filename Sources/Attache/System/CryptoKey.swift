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

  /// Whether this is a key for the curve P-256.
  package var isP256: Bool {
    var (name, length) = ([CChar](repeating: 0, count: 32), 0)
    defer { ERR_clear_error() }
    guard unsafe EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 else { return false }
    return name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar(bitPattern: $0) })
  }

  /// The bytes of each of the two numbers of a signature.
  private static let half: CInt = 32

  /// Signs bytes with ES256 (RFC 7518, 3.4): ECDSA over P-256 with SHA-256.
  ///
  /// - Returns: 64 bytes; nil if libcrypto cannot sign, or if this is another key.
  package func signature(of bytes: [UInt8]) -> [UInt8]? {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    defer {
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    // The longest form in DER: two numbers of 33 bytes, and two bytes before each and before both.
    var (der, length) = ([UInt8](repeating: 0, count: 72), 72)
    guard isP256, unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
      unsafe EVP_DigestSign(context, &der, &length, bytes, bytes.count) == 1
    else { return nil }
    return unsafe der.withUnsafeBufferPointer { der in
      var start = der.baseAddress
      guard let numbers = unsafe d2i_ECDSA_SIG(nil, &start, length) else { return nil }
      defer { unsafe ECDSA_SIG_free(numbers) }
      var (first, second) = ([UInt8](repeating: 0, count: Int(Self.half)), [UInt8](repeating: 0, count: Int(Self.half)))
      guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(numbers), &first, Self.half) == Self.half,
        unsafe BN_bn2binpad(ECDSA_SIG_get0_s(numbers), &second, Self.half) == Self.half
      else { return nil }
      return first + second
    }
  }

  /// Returns whether a signature with ES256 is that of the bytes.
  package func isSignature(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    let half = Int(Self.half)
    guard isP256, signature.count == 2 * half, let context = unsafe EVP_MD_CTX_new() else { return false }
    let numbers = unsafe ECDSA_SIG_new()
    defer {
      unsafe ECDSA_SIG_free(numbers)
      unsafe EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    let first = unsafe BN_bin2bn(Array(signature[..<half]), Self.half, nil)
    let second = unsafe BN_bin2bn(Array(signature[half...]), Self.half, nil)
    guard unsafe numbers != nil, unsafe ECDSA_SIG_set0(numbers, first, second) == 1 else {
      unsafe BN_free(first)
      unsafe BN_free(second)
      return false
    }
    var der: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_ECDSA_SIG(numbers, &der)
    defer { unsafe CRYPTO_free(der, nil, 0) }
    return unsafe length > 0 && EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1
      && EVP_DigestVerify(context, der, Int(length), bytes, bytes.count) == 1
  }
}
