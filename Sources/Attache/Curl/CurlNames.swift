internal import CCurl

/// A DNS cache of libcurl, in which transfers pin names to addresses (CURLOPT_RESOLVE).
///
/// libcurl keeps a pinned name for an hour (CURLOPT_DNS_CACHE_TIMEOUT), and walks through the whole
/// cache whenever a transfer ends. So a cache takes a limited number of names. It is freed when its
/// last transfer uses another cache. Used on the loop only.
@safe
final class CurlNames {
  /// The maximum number of names, where a name counts each time that it is pinned.
  static let maximumCount = 256

  let share: UnsafeMutableRawPointer
  private var count = 0

  /// - Throws: ``CurlError`` when libcurl cannot create the cache.
  init() throws(CurlError) {
    guard let share = unsafe curl_share_init() else { throw CurlError(call: "curl_share_init", code: CURLSHE_NOMEM.rawValue) }
    unsafe self.share = unsafe share
    // Without lock functions, since one thread uses the cache.
    let code = unsafe curl_share_setopt_int(share, CURLSHOPT_SHARE, Int32(CURL_LOCK_DATA_DNS.rawValue))
    guard code == CURLSHE_OK else { throw CurlError(call: "curl_share_setopt", code: code.rawValue) }
  }

  deinit {
    unsafe curl_share_cleanup(share)
  }

  var isFull: Bool { count >= Self.maximumCount }

  /// Counts a name that is pinned in this cache.
  func add() {
    count += 1
  }
}
