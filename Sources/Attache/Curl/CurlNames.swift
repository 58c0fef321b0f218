internal import CCurl

/// The names that transfers have pinned to addresses (CURLOPT_RESOLVE), in a DNS cache that they
/// share. libcurl removes a pinned name only with its cache, and walks the whole cache whenever a
/// transfer ends. So a cache takes a limited number of names, and is freed when its last transfer
/// has taken another. Used on the loop only.
@safe
final class CurlNames {
  /// The maximum number of times that a name is pinned in a cache.
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

  /// Takes one more name, unless the cache is full.
  ///
  /// - Returns: whether there is room for the name.
  func takesName() -> Bool {
    guard count < Self.maximumCount else { return false }
    count += 1
    return true
  }
}
