package import CCurl
internal import Glibc

/// libcurl's easy handle, with what every exchange of attache needs: no proxy, no `.netrc` and no
/// redirect that the caller has not set, TLS 1.2 or later, and checked certificates. Each option is
/// checked.
@safe
package final class CurlEasy {
  package let handle: UnsafeMutableRawPointer
  /// The lists of the exchange. libcurl reads a list until the exchange is over.
  private var lists: [(option: CURLoption, list: UnsafeMutablePointer<curl_slist>?)] = unsafe []
  /// libcurl's error text. libcurl reads and writes this buffer until the handle is freed.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// - Throws: ``CurlError`` when libcurl has no memory or refuses an option.
  package init() throws(CurlError) {
    guard NetworkLibraries.areSetUp, let handle = unsafe curl_easy_init() else {
      throw CurlError(call: "curl_easy_init", code: CURLE_FAILED_INIT.rawValue)
    }
    unsafe self.handle = unsafe handle
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try unsafe set(CURLOPT_ERRORBUFFER, pointer: errorText)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    // An empty string disables the proxies of the environment.
    try set(CURLOPT_PROXY, "")
    try set(CURLOPT_NOPROXY, "")
    for (option, value) in [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_TCP_NODELAY, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_PATH_AS_IS, 1), (CURLOPT_HTTP09_ALLOWED, 0),
      (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)), (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)), (CURLOPT_SSL_VERIFYPEER, 1),
      (CURLOPT_SSL_VERIFYHOST, 2),
    ] { try set(option, value) }
  }

  deinit {
    unsafe curl_easy_cleanup(handle)
    unsafe lists.forEach { unsafe curl_slist_free_all($0.list) }
    unsafe errorText.deallocate()
  }

  package func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_long(handle, option, value))
  }

  /// Sets a text, which libcurl copies.
  package func set(_ option: CURLoption, _ value: String?) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_string(handle, option, value))
  }

  package func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_pointer(handle, option, pointer))
  }

  /// Sets the object that libcurl passes to callbacks. It must outlive the handle's exchanges.
  package func set(_ options: [CURLoption], owner: AnyObject) throws(CurlError) {
    let pointer = unsafe Unmanaged.passUnretained(owner).toOpaque()
    for option in options { try unsafe set(option, pointer: pointer) }
  }

  /// Replaces a list of lines, such as CURLOPT_HTTPHEADER.
  package func set(_ option: CURLoption, lines: [String]) throws(CurlError) {
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = unsafe curl_slist_append(list, line) else {
        unsafe curl_slist_free_all(list)
        throw CurlError(call: "curl_slist_append", code: CURLE_OUT_OF_MEMORY.rawValue)
      }
      unsafe list = unsafe longer
    }
    let place = unsafe lists.firstIndex { unsafe $0.option == option }
    if let place {
      unsafe curl_slist_free_all(lists[place].list)
      unsafe lists[place].list = unsafe list
    } else {
      unsafe lists.append((option, list))
    }
    try check(option, unsafe curl_easy_setopt_list(handle, option, list))
  }

  package func check(_ option: CURLoption, _ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw CurlError(call: "curl_easy_setopt(\(option.rawValue))", code: code.rawValue) }
  }

  package func number(_ info: CURLINFO) -> Int {
    var number = 0
    unsafe curl_easy_getinfo_long(handle, info, &number)
    return number
  }

  package func offset(_ info: CURLINFO) -> Int64 {
    var offset: curl_off_t = 0
    unsafe curl_easy_getinfo_offset(handle, info, &offset)
    return Int64(offset)
  }

  /// The `Retry-After` of the response; nil without one.
  package var retryAfter: Duration? {
    let seconds = offset(CURLINFO_RETRY_AFTER)
    return seconds > 0 ? .seconds(seconds) : nil
  }

  /// Whether a part of the request was given to a connection.
  package var isSent: Bool { number(CURLINFO_REQUEST_SIZE) > 0 }

  /// The errno of the last call that failed, or 0. libcurl never clears it.
  var systemError: Int32 { Int32(clamping: number(CURLINFO_OS_ERRNO)) }

  /// libcurl's words about the last failure, or an empty text.
  var detail: String { unsafe String(cString: errorText) }

  /// Forgets the words about the last failure, before another exchange.
  package func clearDetail() {
    unsafe errorText.pointee = 0
  }

  /// A failure in words, with libcurl's code.
  ///
  /// - Parameters:
  ///   - code: libcurl's result.
  ///   - socketError: the errno when no socket could be opened, or 0.
  package func text(of code: CURLcode, socketError: Int32 = 0) -> String {
    if code == CURLE_OUT_OF_MEMORY { return "\(SystemError.noMemory)" }
    if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT {
      let number = socketError != 0 ? socketError : systemError
      let lack = code == CURLE_COULDNT_CONNECT ? Shortage(number) : nil
      if let lack = lack ?? Shortage.ofDescriptors { return "this machine could not make a connection: \(lack)" }
    }
    if socketError != 0 { return "\(SystemError(call: "socket", number: socketError))" }
    let detail = detail
    return "\(detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail) (libcurl's code \(code.rawValue))"
  }

  /// Opens a socket for CURLOPT_OPENSOCKETFUNCTION.
  ///
  /// - Returns: -1 on failure, with its number in `errno`.
  package static func socket(to address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
    unsafe Glibc.socket(address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
  }
}
