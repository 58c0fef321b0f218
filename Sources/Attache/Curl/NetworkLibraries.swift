internal import CAres
internal import CCurl

/// The libraries that fetch and send.
package enum NetworkLibraries {
  /// Whether libcurl is set up, and OpenSSL with it: done at the first look.
  package static let areSetUp: Bool = {
    // A thread that ends while exit(3) runs OpenSSL's clean-up would use what that has freed, and
    // the process would end by SIGSEGV.
    OpenSSL.skipCleanUpAtExit()
    return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  }()

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
