internal import CCurl
internal import Glibc

/// One exchange with an origin: libcurl's easy handle, its options and its callbacks. Reused for
/// further exchanges. Used on the loop only.
@safe
final class CurlTransfer: Transfer, CurlHandle {
  let easy: UnsafeMutableRawPointer
  let connections: CurlConnections
  /// The multi handle of the current exchange.
  private var multi: CurlMulti?
  let gate: AddressGate
  let roots: CurlRoots?
  weak var owner: (any TransferOwner)?
  private var pins: UnsafeMutablePointer<curl_slist>?
  private var names: CurlNames?
  private var fields: UnsafeMutablePointer<curl_slist>?
  private(set) var request: TransferRequest?
  /// Whether the request is sent over HTTP/2.
  var speaksHTTP2 = false
  var head = ResponseHead()
  var refusal: Refusal?
  var fault: Reason?
  /// nil when the body is not chunked.
  var chunks: ChunkedBody?
  /// The sockets opened for this exchange.
  var opened: [Int32] = []
  /// The errno of the latest socket that could not be opened, or 0.
  var socketError: Int32 = 0
  /// The connection that carries the request, and its TLS session, by the address of its `SSL`.
  /// Both are nil before the request.
  var ends: CurlConnections.Ends?
  var session: UInt?
  /// The connection that this exchange has begun to secure, by the address of its `SSL_CTX`.
  var handshake: UInt?
  /// Whether the exchange ended before its request was sent, because the reused connection had
  /// unread bytes.
  var metSurplus = false
  /// libcurl's error text. libcurl reads and writes this buffer until the handle is freed.
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// The time in milliseconds after which a connection is closed when its peer acknowledges nothing
  /// (TCP_USER_TIMEOUT, tcp(7)). Without this limit, a pooled connection that a router has dropped
  /// would fail every request to its origin for a quarter of an hour.
  static let silenceTimeLimit: UInt32 = 10_000

  /// The number of bytes that libcurl reads at a time (CURLOPT_BUFFERSIZE). Each further read of a
  /// body costs a turn of the loop.
  static let bufferSize = 120 * 1024

  /// Sets the options that are the same for every exchange.
  ///
  /// - Parameter roots: the root certificates that connections trust; nil leaves them to libcurl.
  /// - Throws: ``CurlError`` when libcurl refuses an option.
  init(connections: CurlConnections, gate: AddressGate, roots: CurlRoots?) throws(CurlError) {
    guard let easy = unsafe curl_easy_init() else { throw CurlError(call: "curl_easy_init", code: CURLE_FAILED_INIT.rawValue) }
    unsafe self.easy = unsafe easy
    self.connections = connections
    self.gate = gate
    self.roots = roots
    try setConstants()
    try setCallbacks()
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(pins)
    unsafe curl_slist_free_all(fields)
    unsafe errorText.deallocate()
  }

  /// Prepares the handle for an exchange that reports to `owner`.
  ///
  /// - Parameter names: the cache in which the host's name is pinned.
  func prepare(
    _ request: TransferRequest, on multi: CurlMulti, names: CurlNames, for owner: any TransferOwner
  ) throws(CurlError) {
    self.owner = owner
    self.multi = multi
    self.request = request
    try start(isFresh: false)
    try set(CURLOPT_URL, request.url.text)
    try set(CURLOPT_FORBID_REUSE, 0)
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, request.connectTimeout.milliseconds)))
    if names !== self.names {
      try check(CURLOPT_SHARE, unsafe curl_easy_setopt_pointer(easy, CURLOPT_SHARE, names.share))
      self.names = names
    }
    let pin = pin(request)
    if pin != nil { names.add() }
    unsafe replace(&pins, with: pin.map { [$0] } ?? [])
    try unsafe set(CURLOPT_RESOLVE, list: pins)
    // An empty string disables the proxies of the environment.
    try set(CURLOPT_PROXY, request.proxy?.text ?? "")
    try set(CURLOPT_USERAGENT, request.userAgent)
    unsafe replace(&fields, with: request.fields)
    try unsafe set(CURLOPT_HTTPHEADER, list: fields)
    let (version, isFresh) = request.avoidsHTTP2 ? (CURL_HTTP_VERSION_1_1, 1) : (CURL_HTTP_VERSION_2TLS, 0)
    try set(CURLOPT_HTTP_VERSION, Int(version))
    try set(CURLOPT_FRESH_CONNECT, isFresh)
    // Over TLS, many streams share a connection. Over plain HTTP, a request would wait unsent
    // behind a stalled origin.
    try set(CURLOPT_PIPEWAIT, request.url.scheme == .https ? 1 : 0)
  }

  /// Prepares the handle to begin the same exchange again, on a new connection.
  func startOver() throws(CurlError) {
    try start(isFresh: true)
  }

  /// Begins the prepared exchange.
  func begin() throws(CurlError) {
    try multi?.add(self)
  }

  private func start(isFresh: Bool) throws(CurlError) {
    (head, refusal, fault, chunks) = (ResponseHead(), nil, nil, nil)
    (opened, socketError, metSurplus, speaksHTTP2) = ([], 0, false, false)
    (ends, session, handshake) = (nil, nil, nil)
    unsafe errorText.pointee = 0
    try set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
  }

  func resume() -> Bool {
    unsafe curl_easy_pause(easy, CURLPAUSE_CONT) == CURLE_OK
  }

  func cancel() {
    multi?.remove(self)
  }

  /// Whether the handle can be reused. libcurl never clears the errno of an exchange, so that errno
  /// would appear in the next one.
  var isReusable: Bool {
    systemError == 0
  }

  var times: TransferTimes {
    let connected = microseconds(CURLINFO_CONNECT_TIME_T)
    let secured = microseconds(CURLINFO_APPCONNECT_TIME_T)
    return TransferTimes(
      connect: connected, tls: secured.map { $0 - (connected ?? .zero) }, firstByte: microseconds(CURLINFO_STARTTRANSFER_TIME_T))
  }

  var isSent: Bool { ends != nil && !metSurplus }

  /// Called when libcurl has finished with the handle.
  ///
  /// - Returns: the owner to notify, and the end to report.
  func conclude(_ code: CURLcode) -> (owner: (any TransferOwner)?, end: TransferEnd) {
    var retryAfter: curl_off_t = 0
    unsafe curl_easy_getinfo_offset(easy, CURLINFO_RETRY_AFTER, &retryAfter)
    var end = TransferEnd(failure: nil, refusal: refusal, times: times, retryAfter: retryAfter > 0 ? .seconds(Int64(retryAfter)) : nil)
    if let refusal {
      end.failure = refusal.reason
    } else if let fault {
      end.failure = fault
    } else if code == CURLE_OK {
      let isCutOff = isCutOff
      end.failure = chunks?.isComplete == false ? .httpFraming : isCutOff ? .httpTruncated : nil
      end.isDoubtful = isCutOff && speaksHTTP2
    } else {
      let told = self.end(code)
      (end.failure, end.isUnanswered, end.proxyStatus, end.localError) = (
        told.failure, told.isUnanswered, told.proxyStatus, told.localError
      )
      let fault = handshake.flatMap(connections.takeFault)
      if told.failure == .tlsCertificate { end.certificateFault = fault }
      if code == CURLE_OPERATION_TIMEDOUT { end.timeout = request?.connectTimeout }
    }
    defer { owner = nil }
    return (owner, end)
  }

  /// Returns `HOST:PORT:ADDRESS,…` with a plus sign, so that libcurl drops the entry after a
  /// while (CURLOPT_RESOLVE). Returns nil when the host is an address.
  private func pin(_ request: TransferRequest) -> String? {
    let (host, port) = request.proxy.map { ($0.host, $0.port) } ?? (request.url.host, request.url.port)
    guard request.proxy == nil ? request.url.address == nil : request.proxy?.address == nil else { return nil }
    let addresses = request.addresses.map { address in
      switch address {
      case .v4: "\(address)"
      case .v6: "[\(address)]"
      }
    }
    return "+\(host):\(port):\(addresses.joined(separator: ","))"
  }

  /// Returns a time that libcurl measured, or nil for what has not happened. libcurl reports that
  /// as 0.
  private func microseconds(_ info: CURLINFO) -> Duration? {
    var value: curl_off_t = 0
    unsafe curl_easy_getinfo_offset(easy, info, &value)
    return value > 0 ? .microseconds(Int64(value)) : nil
  }
}

// MARK: Options

extension CurlTransfer {
  private func setConstants() throws(CurlError) {
    try set(CURLOPT_NOSIGNAL, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    try set(CURLOPT_PATH_AS_IS, 1)
    // Longer than any try may take. If a pinned address expired, libcurl would look up the name
    // itself.
    try set(CURLOPT_DNS_CACHE_TIMEOUT, 3_600)
    // A payload's URL must not use the environment's proxies or the user's .netrc. The proxy's
    // response to CONNECT must not be read as the origin's.
    try set(CURLOPT_NOPROXY, "")
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    try set(CURLOPT_HTTP09_ALLOWED, 0)
    // Chunks arrive undecoded and are parsed here.
    try set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
    try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    if roots != nil {
      // Each connection receives the roots when its handshake begins.
      try set(CURLOPT_CAINFO, nil)
      try set(CURLOPT_CAPATH, nil)
    }
    try set(CURLOPT_BUFFERSIZE, Self.bufferSize)
  }

  private func setCallbacks() throws(CurlError) {
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA] {
      try check(option, unsafe curl_easy_setopt_pointer(easy, option, me))
    }
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try check(CURLOPT_ERRORBUFFER, unsafe curl_easy_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText))
    try check(CURLOPT_WRITEFUNCTION, unsafe curl_easy_setopt_data_function(easy, CURLOPT_WRITEFUNCTION, Self.receivedBody))
    try check(CURLOPT_HEADERFUNCTION, unsafe curl_easy_setopt_data_function(easy, CURLOPT_HEADERFUNCTION, Self.receivedHeader))
    try check(CURLOPT_OPENSOCKETFUNCTION, unsafe curl_easy_setopt_opensocket_function(easy, Self.openSocket))
    let connections = unsafe Unmanaged.passUnretained(connections).toOpaque()
    try check(CURLOPT_CLOSESOCKETDATA, unsafe curl_easy_setopt_pointer(easy, CURLOPT_CLOSESOCKETDATA, connections))
    try check(CURLOPT_CLOSESOCKETFUNCTION, unsafe curl_easy_setopt_closesocket_function(easy, Self.closeSocket))
    try check(CURLOPT_PREREQFUNCTION, unsafe curl_easy_setopt_prereq_function(easy, Self.aboutToRequest))
    try check(CURLOPT_SSL_CTX_FUNCTION, setHandshakeCallback())
  }

  private func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_long(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: String?) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_string(easy, option, value))
  }

  private func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(CurlError) {
    try check(option, unsafe curl_easy_setopt_list(easy, option, list))
  }

  private func check(_ option: CURLoption, _ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw CurlError(call: "curl_easy_setopt(\(option.rawValue))", code: code.rawValue) }
  }

  /// Replaces a list. libcurl reads a list until the exchange is over, so the handle keeps it until
  /// the next exchange.
  private func replace(_ list: inout UnsafeMutablePointer<curl_slist>?, with lines: [String]) {
    unsafe curl_slist_free_all(list)
    unsafe list = nil
    for line in lines { unsafe list = unsafe curl_slist_append(list, line) }
  }
}

// MARK: How it ended

extension CurlTransfer {
  var isSecure: Bool {
    request?.url.scheme == .https
  }

  /// Returns libcurl's code with the details that explain it.
  private func end(_ code: CURLcode) -> CurlEnd {
    var end = CurlEnd(
      code: code, systemError: systemError, socketError: socketError, head: head, isSent: number(CURLINFO_REQUEST_SIZE) > 0,
      isSecuring: isSecure && number(CURLINFO_PRIMARY_PORT) != 0 && microseconds(CURLINFO_APPCONNECT_TIME_T) == nil,
      speaksHTTP2: speaksHTTP2, text: unsafe String(cString: errorText))
    if request?.proxy != nil { end.proxy = isSecure ? .tunnelling(status: number(CURLINFO_HTTP_CONNECTCODE)) : .forwarding }
    return end
  }

  private var systemError: Int32 {
    Int32(number(CURLINFO_OS_ERRNO))
  }

  func number(_ info: CURLINFO) -> Int {
    var number = 0
    unsafe curl_easy_getinfo_long(easy, info, &number)
    return number
  }
}
