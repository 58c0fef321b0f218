internal import Attache
internal import CCurl
internal import Glibc

/// One POST request: a libcurl easy handle, which is reused for further requests.
@safe
final class HTTPRequest: CurlHandle {
  let easy: CurlEasy
  private(set) var url = ""
  private let configuration: HTTPClientConfiguration
  /// The beginning of the response's body.
  private var beginning: [UInt8] = []

  /// How a request ended.
  enum End {
    /// The endpoint has answered.
    case answered(HTTPReply)
    /// At least a part of the request was sent, so the endpoint may have it. The text is one line.
    case broken(String)
    /// Nothing of the request was sent.
    case unsent(String)
  }

  /// When this try began.
  private(set) var start = MonotonicInstant.distantPast
  /// Whether this is the first try to send the result.
  private(set) var isFirst = true
  /// Whether this try has looked up the name or opened a socket, rather than waited for others.
  private(set) var hasTried = false
  /// Ends the wait for a connection; nil when none is awaited.
  var timer: TimerEntry?
  /// How often libcurl was about to send the request in this try.
  private var sends = 0
  /// The errno when this try could not open a socket, or 0.
  private var socketError: Int32 = 0

  init(_ configuration: HTTPClientConfiguration) throws {
    self.configuration = configuration
    easy = try CurlEasy()
    try easy.set(CURLOPT_POST, 1)
    try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    try easy.set(CURLOPT_TIMEOUT_MS, max(1, Int(configuration.answerTimeout / .milliseconds(1))))
    if let roots = configuration.rootCertificates {
      guard unsafe access(roots, R_OK) == 0 else { throw HTTPSenderError.file(path: roots, reason: SystemError.text(errno)) }
      try easy.set(CURLOPT_CAINFO, roots)
    }
    try easy.set([CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_RESOLVER_START_DATA, CURLOPT_PREREQDATA], owner: self)
    try setConnectionCallbacks()
    try easy.check(
      CURLOPT_WRITEFUNCTION,
      unsafe curl_easy_setopt_data_function(easy.handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
        guard let bytes = unsafe bytes, let request = unsafe HTTPRequest.of(me) else { return 0 }
        let room = request.configuration.keptLength - request.beginning.count
        if room > 0 { unsafe request.beginning += UnsafeRawBufferPointer(start: bytes, count: min(room, size * count)) }
        return size * count
      })
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTPRequest? {
    unsafe pointer.map { unsafe Unmanaged<HTTPRequest>.fromOpaque($0).takeUnretainedValue() }
  }

  /// libcurl calls these before a look-up and for each socket, and for neither while the request
  /// waits for another one's connection.
  private func setConnectionCallbacks() throws(CurlError) {
    let handle = unsafe easy.handle
    try easy.check(
      CURLOPT_RESOLVER_START_FUNCTION,
      unsafe curl_easy_setopt_resolver_start_function(handle) { _, _, me in
        unsafe HTTPRequest.of(me)?.hasTried = true
        return 0
      })
    try easy.check(
      CURLOPT_OPENSOCKETFUNCTION,
      unsafe curl_easy_setopt_opensocket_function(handle) { me, _, address in
        guard let address = unsafe address, let request = unsafe HTTPRequest.of(me) else { return CURL_SOCKET_BAD }
        request.hasTried = true
        let descriptor = unsafe CurlEasy.socket(to: address)
        if descriptor < 0 { request.socketError = errno }
        return descriptor
      })
    // When a connection that was used before is closed without an answer, libcurl itself sends the
    // request again, up to five times. The endpoint may have the first one: this is a try of its own.
    try easy.check(
      CURLOPT_PREREQFUNCTION,
      unsafe curl_easy_setopt_prereq_function(handle) { me, _, _, _, _ in
        guard let request = unsafe HTTPRequest.of(me) else { return CURL_PREREQFUNC_ABORT }
        request.sends += 1
        return request.sends == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      })
  }

  /// Whether TLS protects the request.
  var isSecure: Bool { url.utf8.starts(with: "https://".utf8) }

  func prepare(_ post: HTTPPost) throws(CurlError) {
    if !url.utf8.elementsEqual(post.url.utf8) {
      url = post.url
      try easy.set(CURLOPT_URL, url)
    }
    // No request waits for "100 Continue".
    try easy.set(CURLOPT_HTTPHEADER, lines: post.fields + ["Expect:"])
    // libcurl copies the body. Without a body it would read standard input, so an empty text is
    // passed as a body.
    try easy.set(CURLOPT_POSTFIELDSIZE, post.body.count)
    var body = post.body
    if body.isEmpty { body = [0] }
    let code = unsafe body.withUnsafeMutableBytes { unsafe curl_easy_setopt_pointer(easy.handle, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    try easy.check(CURLOPT_COPYPOSTFIELDS, code)
  }

  /// Prepares a try. ``prepare(_:)`` comes before the first.
  ///
  /// - Parameters:
  ///   - shares: whether it waits while another request connects, to share its connection. Only
  ///     HTTP/2 over TLS shares connections.
  ///   - isFresh: whether it must not use a connection that exists.
  func begin(shares: Bool, isFresh: Bool) throws(CurlError) {
    (isFirst, hasTried, sends, socketError, start) = (!isFresh, false, 0, 0, .now)
    easy.clearDetail()
    beginning = []
    try easy.set(CURLOPT_PIPEWAIT, shares ? 1 : 0)
    try easy.set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
  }

  /// Whether a part of the request was given to a connection.
  var isSent: Bool { easy.isSent }

  /// Returns how a try ended.
  ///
  /// - Parameter code: libcurl's result.
  func end(_ code: CURLcode) -> End {
    let status = easy.number(CURLINFO_RESPONSE_CODE)
    // A received status counts, whatever happens to the response's body, unless the body is needed.
    let needsBody = configuration.statusesWithBody?.contains(status) ?? false
    guard code == CURLE_OK || status >= 200 && !needsBody else {
      let text = sends > 1 ? "the connection was closed before an answer" : easy.text(of: code, socketError: socketError)
      return isSent || sends > 1 ? .broken(text) : .unsent(text)
    }
    // At most a week: longer values are mistakes.
    let retryAfter = easy.retryAfter.map { min($0, .seconds(604_800)) }
    return .answered(HTTPReply(status: status, retryAfter: retryAfter, body: beginning))
  }
}
