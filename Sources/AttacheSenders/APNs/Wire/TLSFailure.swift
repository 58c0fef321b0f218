internal import COpenSSL

/// Why a TLS connection cannot be had, or has ended.
enum TLSFailure: Error, Hashable {
  /// The server's certificate is not good, or not for the host; or the server wants another
  /// certificate of ours. One line says why.
  case refused(String)
  /// The connection broke, which may not happen again.
  case broken(String)

  /// The oldest error that OpenSSL has noted on this thread, in its own words.
  static var noted: String {
    let code = ERR_get_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "the connection was closed" }
    return unsafe String(cString: text)
  }
}
