internal import CAres
internal import CCurl

/// The libraries for network transfers.
package enum NetworkLibraries {
  /// Whether libcurl and OpenSSL are initialised. The first access initialises them.
  package static let areSetUp: Bool = {
    // A thread that ends while exit(3) runs OpenSSL's clean-up would use freed memory, and the
    // process would end with SIGSEGV.
    OpenSSL.skipCleanUpAtExit()
    return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  }()

  /// The version of libcurl, with that of its TLS library.
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
