internal import Attache
internal import COpenSSL
internal import Glibc

/// OpenSSL's settings for the connections of one sender: at least TLS 1.2, only HTTP/2, and a
/// verified server certificate.
///
/// It owns an `SSL_CTX`. One thread at a time may use it.
@safe
final class TLSContext {
  let handle: OpaquePointer

  /// The ALPN list: one protocol, with its length.
  private static let protocols: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]

  /// Creates the settings and loads the certificates.
  ///
  /// - Parameters:
  ///   - rootCertificates: the path of a PEM file of trusted roots; nil uses the system's.
  ///   - certificate: the path of a PEM file with a client certificate, its chain and its key; nil
  ///     for none.
  /// - Throws: ``SenderSetupError`` when a file cannot be used.
  init(rootCertificates: String?, certificate: String?) throws(SenderSetupError) {
    guard NetworkLibraries.areSetUp else { throw SenderSetupError("TLS is not available: libcurl cannot be initialised") }
    ERR_clear_error()
    guard let handle = unsafe SSL_CTX_new(TLS_client_method()) else { throw SenderSetupError("no TLS: \(TLSFailure.noted)") }
    unsafe self.handle = handle
    _ = unsafe SSL_CTX_set_min_proto_version_shim(handle, TLS1_2_VERSION)
    _ = unsafe SSL_CTX_set_mode_shim(
      handle, Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) | Int(SSL_MODE_RELEASE_BUFFERS))
    _ = unsafe SSL_CTX_set_session_cache_mode_shim(handle, Int(SSL_SESS_CACHE_OFF))
    unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
    // A key with a passphrase is an error and must not prompt on the terminal.
    unsafe SSL_CTX_set_default_passwd_cb(handle, { _, _, _, _ in 0 })
    guard unsafe SSL_CTX_set_alpn_protos(handle, Self.protocols, UInt32(Self.protocols.count)) == 0 else {
      throw SenderSetupError("no ALPN: \(TLSFailure.noted)")
    }
    try unsafe Self.trust(rootCertificates, handle)
    if let certificate { try unsafe Self.present(certificate, handle) }
  }

  deinit {
    unsafe SSL_CTX_free(handle)
  }

  private static func trust(_ path: String?, _ handle: OpaquePointer) throws(SenderSetupError) {
    guard let path else {
      // Name the system's folder explicitly: OpenSSL's default would follow SSL_CERT_FILE and
      // SSL_CERT_DIR. Each root is read when it is needed.
      guard unsafe SSL_CTX_load_verify_locations(handle, nil, X509_get_default_cert_dir()) == 1 else {
        throw SenderSetupError("no root certificates: \(TLSFailure.noted)")
      }
      return
    }
    guard unsafe SSL_CTX_load_verify_locations(handle, path, nil) == 1 else {
      throw SenderSetupError("the root certificates in \(path) cannot be used: \(TLSFailure.noted)")
    }
  }

  private static func present(_ path: String, _ handle: OpaquePointer) throws(SenderSetupError) {
    guard unsafe SSL_CTX_use_certificate_chain_file(handle, path) == 1 else {
      throw SenderSetupError("the certificate in \(path) cannot be used: \(TLSFailure.noted)")
    }
    guard unsafe SSL_CTX_use_PrivateKey_file(handle, path, SSL_FILETYPE_PEM) == 1, unsafe SSL_CTX_check_private_key(handle) == 1 else {
      throw SenderSetupError("the private key in \(path) cannot be used with its certificate: \(TLSFailure.noted)")
    }
  }
}
