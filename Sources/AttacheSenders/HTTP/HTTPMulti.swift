internal import Attache
internal import AttacheQueue
internal import CCurl
internal import Glibc

/// The requests of an ``HTTPSender`` that are under way, by libcurl.
///
/// `@unchecked Sendable`: one thread has it, but for ``wake()``.
@safe
final class HTTPMulti: @unchecked Sendable {
  private let configuration: HTTPSender.Configuration
  private let multi: UnsafeMutableRawPointer
  private var running: [UnsafeMutableRawPointer: HTTPRequest] = unsafe [:]
  private var idle: [HTTPRequest] = []
  private var bearer = TokenFile()

  private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  init(_ configuration: HTTPSender.Configuration) throws(HTTPSenderError) {
    guard Self.isInitialised, let multi = unsafe curl_multi_init() else { throw .option("libcurl", reason: "out of memory") }
    self.configuration = configuration
    unsafe self.multi = unsafe multi
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connections)
    _ = unsafe curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, configuration.connections)
    // What the configuration says is refused at once, not by the first result.
    do throws(HTTPSenderError) {
      idle = [try HTTPRequest(configuration)]
    } catch {
      unsafe curl_multi_cleanup(multi)
      throw error
    }
  }

  deinit {
    _ = cancelAll()
    unsafe curl_multi_cleanup(multi)
  }

  /// The token of the configuration's file; nil where there is no file.
  func token() throws(HTTPSenderError) -> String? {
    guard let file = configuration.bearerFile else { return nil }
    return try bearer.read(file)
  }

  /// Begins to send a result.
  ///
  /// - Returns: an answer where that cannot be done.
  func begin(_ delivery: Delivery) -> DeliveryAnswer? {
    do throws(HTTPSenderError) {
      let request = if let idle = idle.popLast() { idle } else { try HTTPRequest(configuration) }
      try request.prepare(delivery, token: token())
      guard unsafe curl_multi_add_handle(multi, request.easy) == CURLM_OK else { throw .option("libcurl", reason: "out of memory") }
      unsafe running[request.easy] = request
      return nil
    } catch {
      return .refused(reason: "\(error)")
    }
  }

  /// Gives up all requests.
  ///
  /// - Returns: their results.
  func cancelAll() -> [LeaseToken] {
    let requests = unsafe running.values.map(\.self)
    unsafe running.removeAll()
    for request in requests { unsafe curl_multi_remove_handle(multi, request.easy) }
    return requests.compactMap(\.token)
  }

  /// Does what can be done now.
  ///
  /// - Returns: the answers that have come.
  func advance() -> [(token: LeaseToken, answer: DeliveryAnswer)] {
    var count: Int32 = 0
    unsafe curl_multi_perform(multi, &count)
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    while let message = unsafe curl_multi_info_read(multi, &count) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let request = unsafe running.removeValue(forKey: easy)
      else { continue }
      let code = unsafe curl_message_result(message)
      unsafe curl_multi_remove_handle(multi, easy)
      if let token = request.token { answers.append((token, request.answer(code))) }
      idle.append(request)
    }
    return answers
  }

  /// Waits until something can be done, or ``wake()``.
  func wait() {
    _ = unsafe curl_multi_poll(multi, nil, 0, 60_000, nil)
  }

  /// Ends the present wait, or the next one. Safe from any thread.
  func wake() {
    unsafe curl_multi_wakeup(multi)
  }
}

/// One POST: libcurl's easy handle, which is used again for further ones.
@safe
private final class HTTPRequest {
  let easy: UnsafeMutableRawPointer
  private(set) var token: LeaseToken?
  private let configuration: HTTPSender.Configuration
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// The beginning of the response's body.
  private var beginning: [UInt8] = []
  /// What libcurl says went wrong; it reads and writes it until the handle is freed.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Bytes of a response's body that are kept for people.
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
      (CURLOPT_POST, 1), (CURLOPT_NOSIGNAL, 1), (CURLOPT_PIPEWAIT, 1), (CURLOPT_TCP_NODELAY, 1),
      (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
      (CURLOPT_TIMEOUT_MS, max(1, Int(configuration.answerTimeout / .milliseconds(1)))),
    ] { _ = unsafe curl_easy_setopt_long(easy, option, value) }
    if let roots = configuration.rootCertificates {
      guard unsafe access(roots, R_OK) == 0 else { throw .file(path: roots, reason: unsafe String(cString: strerror(errno))) }
      try set("--cacert", CURLOPT_CAINFO, roots)
    }
    _ = unsafe curl_easy_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    _ = unsafe curl_easy_setopt_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
    _ = unsafe curl_easy_setopt_data_function(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
      guard let bytes = unsafe bytes, let me = unsafe me else { return 0 }
      let request = unsafe Unmanaged<HTTPRequest>.fromOpaque(me).takeUnretainedValue()
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
    // libcurl copies the body. Without one it would read standard input: an empty text is a body.
    var body = DeliveryText.body(delivery)
    _ = unsafe curl_easy_setopt_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
    body.append(0)
    _ = unsafe body.withUnsafeMutableBytes { unsafe curl_easy_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
  }

  func answer(_ code: CURLcode) -> DeliveryAnswer {
    var status = 0
    unsafe curl_easy_getinfo_long(easy, CURLINFO_RESPONSE_CODE, &status)
    // A status that was heard counts, whatever becomes of the response's body.
    guard code == CURLE_OK || status >= 200 else {
      var sent = 0
      unsafe curl_easy_getinfo_long(easy, CURLINFO_REQUEST_SIZE, &sent)
      let detail = unsafe String(cString: errorText)
      return HTTPAnswer.of(failure: code, wasSent: sent > 0, detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail)
    }
    var seconds: curl_off_t = 0
    unsafe curl_easy_getinfo_offset(easy, CURLINFO_RETRY_AFTER, &seconds)
    // A week: beyond it nobody means what was written.
    let retryAfter: Duration? = seconds > 0 ? .seconds(min(Int64(seconds), 604_800)) : nil
    return HTTPAnswer.of(
      status: status, retryAfter: retryAfter, body: PrintableText.of(String(decoding: beginning, as: UTF8.self)))
  }
}

/// A file with a token, which is read again when it has changed.
private struct TokenFile {
  private var token: String?
  /// Its size, its time of change, and its number.
  private var version: (Int64, Int64, Int64, UInt64)?

  /// In bytes.
  private static let limit = 16_384

  mutating func read(_ path: String) throws(HTTPSenderError) -> String {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw Self.failure(path) }
    let version = (Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), UInt64(status.st_ino))
    if let token, let known = self.version, known == version { return token }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure(path) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.limit + 1)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw Self.failure(path) }
    let text = bytes.prefix(count).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
    // RFC 6750, section 2.1: letters, digits and some signs, none of which is a blank or not ASCII.
    guard count <= Self.limit, text.count == 1, let line = text.first, line.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .file(path: path, reason: "is no token: one line of ASCII without blanks, at most \(Self.limit) bytes")
    }
    let token = String(decoding: line, as: UTF8.self)
    (self.token, self.version) = (token, version)
    return token
  }

  private static func failure(_ path: String) -> HTTPSenderError {
    .file(path: path, reason: unsafe String(cString: strerror(errno)))
  }
}
