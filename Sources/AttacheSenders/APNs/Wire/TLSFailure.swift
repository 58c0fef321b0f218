internal import COpenSSL

/// Why a TLS connection cannot be made, or ended.
enum TLSFailure: Error, Hashable {
  /// One side does not accept the other: for example, the server's certificate is invalid or for
  /// another host, or the server rejects our certificate. One line says why.
  case refused(String)
  /// The connection broke. The next attempt may succeed.
  case broken(String)

  /// The message of the oldest OpenSSL error of this thread.
  static var noted: String {
    let code = ERR_get_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "the connection was closed" }
    return unsafe String(cString: text)
  }
}
