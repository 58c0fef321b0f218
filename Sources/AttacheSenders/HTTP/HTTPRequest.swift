internal import Attache
internal import AttacheQueue
internal import CCurl
internal import Glibc

/// One POST request: a libcurl easy handle, which is reused for further requests.
@safe
final class HTTPRequest {
  let easy: UnsafeMutableRawPointer
  private(set) var token: LeaseToken?
  private let configuration: HTTPSender.Configuration
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// The beginning of the response's body.
  private var beginning: [UInt8] = []
  /// libcurl's error message. libcurl reads and writes this buffer until the handle is freed.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// How a request ended.
  enum End {
    /// The endpoint has answered.
    case answered(DeliveryAnswer)
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
  /// How often libcurl was about to send the request in this try.
  private var sends = 0
  /// The errno when this try could not open a socket, or 0.
  private var socketError: Int32 = 0

  /// The bytes of a response's body that are kept for messages.
  private static let excerptLength = 200

  init(_ configuration: HTTPSender.Configuration) throws(HTTPSenderError) {
    guard let easy = unsafe curl_easy_init() else { throw .option("libcurl", reason: "out of memory") }
    unsafe self.easy = unsafe easy
    self.configuration = configuration
    unsafe errorText.pointee = 0
    try set("--http", CURLOPT_URL, configuration.url)
    try set("--http", CURLOPT_PROTOCOLS_STR, "http,https")
    try set("libcurl", CURLOPT_PROXY, "")
    for (option, value) in [
      (CURLOPT_POST, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_TCP_NODELAY, 1),
      (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
      (CURLOPT_TIMEOUT_MS, max(1, Int(configuration.answerTimeout / .milliseconds(1)))),
    ] { _ = unsafe curl_easy_setopt_long(easy, option, value) }
    if let roots = configuration.rootCertificates {
      guard unsafe access(roots, R_OK) == 0 else { throw .file(path: roots, reason: SystemError.text(errno)) }
      try set("--cacert", CURLOPT_CAINFO, roots)
    }
    _ = unsafe curl_easy_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_RESOLVER_START_DATA, CURLOPT_PREREQDATA] {
      _ = unsafe curl_easy_setopt_pointer(easy, option, me)
    }
    setConnectionCallbacks()
    _ = unsafe curl_easy_setopt_data_function(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
      guard let bytes = unsafe bytes, let request = unsafe HTTPRequest.of(me) else { return 0 }
      let room = HTTPRequest.excerptLength - request.beginning.count
      if room > 0 { unsafe request.beginning += UnsafeRawBufferPointer(start: bytes, count: min(room, size * count)) }
      return size * count
    }
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(fields)
    unsafe errorText.deallocate()
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTPRequest? {
    unsafe pointer.map { unsafe Unmanaged<HTTPRequest>.fromOpaque($0).takeUnretainedValue() }
  }

  /// libcurl calls these before a look-up and for each socket, and for neither while the request
  /// waits for another one's connection.
  private func setConnectionCallbacks() {
    _ = unsafe curl_easy_setopt_resolver_start_function(easy) { _, _, me in
      unsafe HTTPRequest.of(me)?.hasTried = true
      return 0
    }
    _ = unsafe curl_easy_setopt_opensocket_function(easy) { me, _, address in
      guard let address = unsafe address, let request = unsafe HTTPRequest.of(me) else { return CURL_SOCKET_BAD }
      request.hasTried = true
      let descriptor = unsafe socket(
        address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
      if descriptor < 0 { request.socketError = errno }
      return descriptor
    }
    // When a connection that was used before is closed without an answer, libcurl itself sends the
    // request again, up to five times. The endpoint may have the first one: this is a try of its own.
    _ = unsafe curl_easy_setopt_prereq_function(easy) { me, _, _, _, _ in
      guard let request = unsafe HTTPRequest.of(me) else { return CURL_PREREQFUNC_ABORT }
      request.sends += 1
      return request.sends == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
  }

  private func set(_ name: String, _ option: CURLoption, _ value: String) throws(HTTPSenderError) {
    let code = unsafe curl_easy_setopt_string(easy, option, value)
    guard code == CURLE_OK else { throw .option(name, reason: unsafe String(cString: curl_easy_strerror(code))) }
  }

  func prepare(_ delivery: Delivery, token bearer: String?) throws(HTTPSenderError) {
    token = delivery.token
    beginning = []
    unsafe errorText.pointee = 0
    unsafe curl_slist_free_all(fields)
    unsafe fields = nil
    var lines = configuration.fields
    if !lines.contains(where: { $0.lowercased().hasPrefix("content-type:") }) { lines.append("Content-Type: application/json") }
    if let bearer { lines.append("Authorization: Bearer \(bearer)") }
    // No request waits for "100 Continue".
    lines += ["Attache-Id: \(delivery.token.id)", "Attache-Attempt: \(delivery.attempt)", "Expect:"]
    for line in lines {
      guard let longer = unsafe curl_slist_append(fields, line) else { throw .option("libcurl", reason: "out of memory") }
      unsafe fields = unsafe longer
    }
    _ = unsafe curl_easy_setopt_list(easy, CURLOPT_HTTPHEADER, fields)
    // libcurl copies the body. Without a body it would read standard input, so an empty text is
    // passed as a body.
    var body = DeliveryText.body(delivery)
    _ = unsafe curl_easy_setopt_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
    body.append(0)
    _ = unsafe body.withUnsafeMutableBytes { unsafe curl_easy_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  /// Prepares a try. ``prepare(_:token:)`` comes before the first.
  ///
  /// - Parameters:
  ///   - shares: whether it waits while another request connects, to share its connection. Only
  ///     HTTP/2 over TLS shares connections.
  ///   - isFresh: whether it must not use a connection that exists.
  func begin(shares: Bool, isFresh: Bool) {
    (isFirst, hasTried, sends, socketError, start) = (!isFresh, false, 0, 0, .now)
    unsafe errorText.pointee = 0
    beginning = []
    _ = unsafe curl_easy_setopt_long(easy, CURLOPT_PIPEWAIT, shares ? 1 : 0)
    _ = unsafe curl_easy_setopt_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
  }

  /// Whether a part of the request was given to a connection.
  var isSent: Bool {
    var bytes = 0
    unsafe curl_easy_getinfo_long(easy, CURLINFO_REQUEST_SIZE, &bytes)
    return bytes > 0
  }

  /// Returns how a try ended.
  ///
  /// - Parameter code: libcurl's result.
  func end(_ code: CURLcode) -> End {
    var status = 0
    unsafe curl_easy_getinfo_long(easy, CURLINFO_RESPONSE_CODE, &status)
    // A received status counts, whatever happens to the response's body.
    guard code == CURLE_OK || status >= 200 else { return isSent || sends > 1 ? .broken(text(code)) : .unsent(text(code)) }
    var seconds: curl_off_t = 0
    unsafe curl_easy_getinfo_offset(easy, CURLINFO_RETRY_AFTER, &seconds)
    // At most a week: longer values are mistakes.
    let retryAfter: Duration? = seconds > 0 ? .seconds(min(Int64(seconds), 604_800)) : nil
    return .answered(
      HTTPAnswer.of(
        status: status, retryAfter: retryAfter, body: PrintableText.of(String(decoding: beginning, as: UTF8.self))))
  }

  /// A failure in words, with libcurl's code.
  private func text(_ code: CURLcode) -> String {
    if code == CURLE_OUT_OF_MEMORY { return "\(SystemError.noMemory)" }
    if sends > 1 { return "the connection was closed before an answer" }
    if socketError != 0 { return "\(SystemError(call: "socket", number: socketError))" }
    if code == CURLE_COULDNT_RESOLVE_HOST, let lack = Shortage.ofDescriptors { return "the name cannot be looked up: \(lack)" }
    let detail = unsafe String(cString: errorText)
    return "\(detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail) (libcurl's code \(code.rawValue))"
  }
}
