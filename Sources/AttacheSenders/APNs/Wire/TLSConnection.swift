internal import COpenSSL
internal import Glibc

/// One TLS connection over a non-blocking socket. It owns an `SSL`, not the socket.
@safe
final class TLSConnection {
  /// The result of a step.
  enum Step {
    case done
    /// The number of bytes that were read or written.
    case bytes(Int)
    case wantsRead
    case wantsWrite
    case failed(TLSFailure)
  }

  private let handle: OpaquePointer

  /// Creates a connection, which connects by ``handshake()``.
  ///
  /// - Throws: ``TLSFailure`` when there is no memory.
  init(_ context: TLSContext, to endpoint: PushEndpoint, over socket: Int32) throws(TLSFailure) {
    ERR_clear_error()
    guard let handle = unsafe SSL_new(context.handle) else { throw .broken(TLSFailure.noted) }
    unsafe self.handle = handle
    guard unsafe Self.demand(endpoint, of: handle), unsafe SSL_set_fd(handle, socket) == 1 else { throw .broken(TLSFailure.noted) }
    unsafe SSL_set_connect_state(handle)
  }

  deinit {
    unsafe SSL_free(handle)
  }

  /// Requires a certificate with an alternative name that matches the host (RFC 9525, 6.3).
  private static func demand(_ endpoint: PushEndpoint, of handle: OpaquePointer) -> Bool {
    let parameter = unsafe SSL_get0_param(handle)
    unsafe X509_VERIFY_PARAM_set_hostflags(parameter, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    guard endpoint.address == nil else { return unsafe X509_VERIFY_PARAM_set1_ip_asc(parameter, endpoint.host) == 1 }
    return unsafe X509_VERIFY_PARAM_set1_host(parameter, endpoint.host, 0) == 1
      && SSL_set_tlsext_host_name_shim(handle, endpoint.host) == 1
  }

  func handshake() -> Step {
    ERR_clear_error()
    let result = unsafe SSL_do_handshake(handle)
    guard result != 1 else { return speaksHTTP2 ? .done : .failed(.refused("the server does not speak HTTP/2")) }
    return step(result, isHandshake: true)
  }

  /// Reads at most as many bytes as the buffer has.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
    ERR_clear_error()
    let count = unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
    return count > 0 ? .bytes(Int(count)) : step(count, isHandshake: false)
  }

  /// Writes some of the bytes. There must be at least one.
  func write(_ bytes: UnsafeRawBufferPointer) -> Step {
    ERR_clear_error()
    let count = unsafe SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
    return count > 0 ? .bytes(Int(count)) : step(count, isHandshake: false)
  }

  /// Announces that nothing more is sent.
  func end() {
    ERR_clear_error()
    _ = unsafe SSL_shutdown(handle)
  }

  private var speaksHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe SSL_get0_alpn_selected(handle, &name, &length)
    return unsafe UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
  }

  private func step(_ result: Int32, isHandshake: Bool) -> Step {
    let number = errno
    switch unsafe SSL_get_error(handle, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .failed(.broken("the server closed the connection"))
    case SSL_ERROR_SYSCALL:
      let text = number == 0 ? "the connection was closed" : unsafe String(cString: strerror(number))
      return .failed(.broken(text))
    default: return .failed(isHandshake ? handshakeFailure : readFailure)
    }
  }

  /// Reason codes of OpenSSL's TLS, as sslerr.h numbers them. An alert from the server is 1000 plus
  /// its number (RFC 8446, 6.2).
  private enum Reason {
    static let unexpectedEnd: UInt = 294
    /// The client's certificate is bad, unsupported, revoked, expired, unknown, of an unknown
    /// authority, insufficient, or missing.
    static let certificateAlerts: Set<UInt> = [1042, 1043, 1044, 1045, 1046, 1048, 1049, 1116]
  }

  private static var reason: UInt { ERR_peek_error() & 0x7F_FFFF }

  /// With TLS 1.3, a client learns only after its own handshake that its certificate is not
  /// accepted.
  private var readFailure: TLSFailure {
    let isRefused = Reason.certificateAlerts.contains(Self.reason)
    return isRefused ? .refused("the server does not accept the client's certificate: \(TLSFailure.noted)") : .broken(TLSFailure.noted)
  }

  private var handshakeFailure: TLSFailure {
    let verified = unsafe SSL_get_verify_result(handle)
    if verified != Int(X509_V_OK), let text = unsafe X509_verify_cert_error_string(verified) {
      return .refused("the server's certificate was rejected: \(unsafe String(cString: text))")
    }
    if Self.reason == Reason.unexpectedEnd { return .broken("the server closed the connection during the handshake") }
    return .refused("TLS: \(TLSFailure.noted)")
  }
}
