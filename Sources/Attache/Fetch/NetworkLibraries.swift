internal import CAres
internal import CCurl

/// The versions of the libraries that fetch.
enum NetworkLibraries {
  /// libcurl's, with what it speaks TLS by.
  static var curl: String {
    guard let information = unsafe curl_version_info(CURLVERSION_FIRST)?.pointee, let version = unsafe information.version else {
      return "unknown"
    }
    let tls = unsafe information.ssl_version.map { unsafe " (" + String(cString: $0) + ")" } ?? ""
    return unsafe String(cString: version) + tls
  }

  static var cares: String {
    unsafe ares_version(nil).map { unsafe String(cString: $0) } ?? "unknown"
  }
}
