internal import Attache
internal import COpenSSL

/// A certificate (RFC 5280), held by libcrypto. Once it is signed, it does not change.
@safe
final class Certificate: @unchecked Sendable {
  /// The subject's common name.
  let subject: String
  private let handle: OpaquePointer

  /// Begins a certificate without extensions or signature.
  ///
  /// - Parameter days: when it is valid, in days from now.
  init(subject: String, key: CryptoKey, days: ClosedRange<Int>) throws(OriginError) {
    ERR_clear_error()
    guard let handle = unsafe X509_new() else { throw Self.failure }
    (self.subject, unsafe self.handle) = (subject, unsafe handle)
    let day = 86_400
    guard unsafe X509_set_version(handle, Int(X509_VERSION_3)) == 1,
      unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(handle), UInt64.random(in: 1...UInt64.max)) == 1,
      unsafe X509_gmtime_adj(X509_getm_notBefore(handle), days.lowerBound * day) != nil,
      unsafe X509_gmtime_adj(X509_getm_notAfter(handle), days.upperBound * day) != nil,
      unsafe Self.add(subject, to: X509_get_subject_name(handle)),
      unsafe X509_set_pubkey(handle, key.handle) == 1
    else { throw Self.failure }
  }

  /// Parses a certificate in PEM form; nil if the text is not one.
  init?(pem text: String) {
    defer { ERR_clear_error() }
    // Without the function, libcrypto would ask for a passphrase on the terminal.
    guard let handle = unsafe OpenSSLText.read(text, { unsafe PEM_read_bio_X509($0, nil, { _, _, _, _ in 0 }, nil) }) else { return nil }
    unsafe self.handle = handle
    var name = [CChar](repeating: 0, count: 256)
    let count = unsafe X509_NAME_get_text_by_NID(X509_get_subject_name(handle), NID_commonName, &name, CInt(name.count))
    subject = String(decoding: name.prefix(Int(max(count, 0))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    unsafe X509_free(handle)
  }

  /// Returns whether the certificate is for a key.
  func isCertificate(of key: CryptoKey) -> Bool {
    defer { ERR_clear_error() }
    return unsafe X509_check_private_key(handle, key.handle) == 1
  }

  /// Adds an extension.
  ///
  /// - Parameter value: as OpenSSL's configuration files have it (x509v3_config(5)).
  func add(_ extension: CInt, _ value: String) throws(OriginError) {
    try unsafe add(X509V3_EXT_conf_nid(nil, nil, `extension`, value))
  }

  /// Adds the names of the server: DNS names and addresses.
  func add(names: [String]) throws(OriginError) {
    // libcrypto would take a name up to its first zero byte.
    guard names.joined().utf8.allSatisfy({ 1...0x7F ~= $0 }) else {
      throw .certificate(reason: "a DNS name has ASCII characters alone, and no zero byte")
    }
    let stack = unsafe OPENSSL_sk_new_null()
    defer { unsafe OPENSSL_sk_pop_free(stack) { unsafe GENERAL_NAME_free($0?.assumingMemoryBound(to: GENERAL_NAME.self)) } }
    for name in names {
      let kind = IPAddress(name) == nil ? GEN_DNS : GEN_IPADD
      guard let entry = unsafe a2i_GENERAL_NAME(nil, nil, nil, kind, name, 0) else { throw Self.failure }
      guard unsafe OPENSSL_sk_push(stack, entry) > 0 else {
        unsafe GENERAL_NAME_free(entry)
        throw Self.failure
      }
    }
    try unsafe add(X509V3_EXT_i2d(NID_subject_alt_name, 0, UnsafeMutableRawPointer(stack)))
  }

  private func add(_ extension: OpaquePointer?) throws(OriginError) {
    defer { unsafe X509_EXTENSION_free(`extension`) }
    guard unsafe `extension` != nil, unsafe X509_add_ext(handle, `extension`, -1) == 1 else { throw Self.failure }
  }

  /// Ends the certificate.
  func sign(issuer: String, _ key: CryptoKey) throws(OriginError) {
    guard unsafe Self.add(issuer, to: X509_get_issuer_name(handle)), unsafe X509_sign(handle, key.handle, EVP_sha256()) > 0 else {
      throw Self.failure
    }
  }

  private static func add(_ commonName: String, to name: OpaquePointer?) -> Bool {
    let bytes = Array(commonName.utf8)
    guard let count = CInt(exactly: bytes.count) else { return false }
    // This type, and not MBSTRING_UTF8, takes a name of any length.
    return unsafe X509_NAME_add_entry_by_txt(name, "CN", V_ASN1_UTF8STRING, bytes, count, -1, 0) == 1
  }

  /// The certificate in PEM form.
  var pem: String {
    get throws(OriginError) {
      guard let text = unsafe OpenSSLText.write({ unsafe PEM_write_bio_X509($0, handle) }) else { throw Self.failure }
      return text
    }
  }

  /// The certificate in DER form.
  var der: [UInt8] {
    get throws(OriginError) {
      var start: UnsafeMutablePointer<UInt8>?
      let count = unsafe i2d_X509(handle, &start)
      defer { unsafe CRYPTO_free(start, nil, 0) }
      guard count > 0 else { throw Self.failure }
      return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
  }

  /// The oldest error of libcrypto.
  private static var failure: OriginError {
    let code = ERR_get_error()
    ERR_clear_error()
    let text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
    return .certificate(reason: text ?? "libcrypto gives no reason")
  }
}
