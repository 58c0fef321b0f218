internal import CCurlURL

/// A URL as libcurl's own parser reads it.
@safe
final class CurlURL {
  private let handle: OpaquePointer

  /// Nil when libcurl reads no URL in the bytes, or they contain NUL.
  init?(_ bytes: [UInt8]) {
    guard let handle = unsafe curl_url() else { return nil }
    unsafe self.handle = handle
    guard follow(bytes) else { return nil }
  }

  deinit {
    unsafe curl_url_cleanup(handle)
  }

  /// Goes to a URL that may be relative to the one at hand; false when libcurl reads none. Dots
  /// stay, as the filter has it (CURLOPT_PATH_AS_IS).
  func follow(_ bytes: [UInt8]) -> Bool {
    guard !bytes.contains(0) else { return false }
    let text = bytes.map { CChar(bitPattern: $0) } + [0]
    return unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
  }

  var scheme: String? { part(CURLUPART_SCHEME) }
  /// IPv6 in brackets, IPv4 in four decimal numbers however it is written.
  var host: String? { part(CURLUPART_HOST) }
  var port: String? { part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)) }
  var path: String? { part(CURLUPART_PATH) }
  var query: String? { part(CURLUPART_QUERY) }
  var fragment: String? { part(CURLUPART_FRAGMENT) }
  /// What must not be there.
  var secrets: [String] {
    [part(CURLUPART_USER), part(CURLUPART_PASSWORD), part(CURLUPART_OPTIONS), part(CURLUPART_ZONEID)].compactMap(\.self)
  }

  private func part(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }
}
