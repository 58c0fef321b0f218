import COpenSSL
import Foundation
import Testing

/// What an app's server does with libcrypto.
enum OpenSSL {
  /// Returns whether a signature in DER form is that of the bytes: ECDSA with SHA-256.
  static func verify(_ signature: [UInt8], of bytes: [UInt8], _ key: OpaquePointer) -> Bool {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }

  /// Encrypts a text with AES-GCM and a key of 32 bytes (NIST SP 800-38D).
  ///
  /// - Returns: a random nonce of 12 bytes, the encrypted text, and its tag of 16 bytes: CryptoKit's
  ///   `combined`.
  static func seal(_ text: some Collection<UInt8>, key: [UInt8]) throws -> Data {
    let (text, nonce) = (Array(text), (0..<12).map { _ in UInt8.random(in: .min ... .max) })
    let context = unsafe EVP_CIPHER_CTX_new()
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var (sealed, tag, count, last) = ([UInt8](repeating: 0, count: text.count), [UInt8](repeating: 0, count: 16), CInt(0), CInt(0))
    try #require(key.count == 32)
    try #require(unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1)
    try #require(unsafe EVP_EncryptUpdate(context, &sealed, &count, text, CInt(text.count)) == 1)
    try #require(Int(count) == text.count)
    try #require(unsafe EVP_EncryptFinal_ex(context, &tag, &last) == 1)
    try #require(unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1)
    return Data(nonce + sealed + tag)
  }
}
