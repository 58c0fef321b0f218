internal import CCurl

/// One exchange with an origin: libcurl's easy handle, its options and its callbacks. Reused for
/// further exchanges. Used on the loop only.
@safe
final class CurlTransfer: Transfer, CurlHandle {
  let easy: CurlEasy
  let connections: CurlConnections
  /// The multi handle of the current exchange.
  private var multi: CurlMulti?
  let gate: AddressGate
  let roots: CurlRoots?
  weak var owner: (any TransferOwner)?
  private var names: CurlNames?
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
    easy = try CurlEasy()
    self.connections = connections
    self.gate = gate
    self.roots = roots
    try setConstants()
    try setCallbacks()
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
    try easy.set(CURLOPT_URL, request.url.text)
    try easy.set(CURLOPT_FORBID_REUSE, 0)
    try easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, request.connectTimeout.milliseconds)))
    if names !== self.names {
      try unsafe easy.set(CURLOPT_SHARE, pointer: names.share)
      self.names = names
    }
    let pin = pin(request)
    if pin != nil { names.add() }
    try easy.set(CURLOPT_RESOLVE, lines: pin.map { [$0] } ?? [])
    try easy.set(CURLOPT_PROXY, request.proxy?.text ?? "")
    try easy.set(CURLOPT_USERAGENT, request.userAgent)
    try easy.set(CURLOPT_HTTPHEADER, lines: request.fields)
    let (version, isFresh) = request.avoidsHTTP2 ? (CURL_HTTP_VERSION_1_1, 1) : (CURL_HTTP_VERSION_2TLS, 0)
    try easy.set(CURLOPT_HTTP_VERSION, Int(version))
    try easy.set(CURLOPT_FRESH_CONNECT, isFresh)
    // Over TLS, many streams share a connection. Over plain HTTP, a request would wait unsent
    // behind a stalled origin.
    try easy.set(CURLOPT_PIPEWAIT, request.url.scheme == .https ? 1 : 0)
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
    easy.clearDetail()
    try easy.set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
  }

  func resume() -> Bool {
    unsafe curl_easy_pause(easy.handle, CURLPAUSE_CONT) == CURLE_OK
  }

  func cancel() {
    multi?.remove(self)
  }

  /// Whether the handle can be reused. libcurl never clears the errno of an exchange, so that errno
  /// would appear in the next one.
  var isReusable: Bool {
    easy.systemError == 0
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
    var end = TransferEnd(failure: nil, refusal: refusal, times: times, retryAfter: easy.retryAfter)
    if let refusal {
      end.failure = refusal.reason
    } else if let fault {
      end.failure = fault
    } else if code == CURLE_OK {
      let isCutOff = isCutOff
      end.failure = chunks?.isComplete == false ? .httpFraming : isCutOff ? .httpTruncated : nil
      end.isDoubtful = isCutOff && speaksHTTP2
    } else {
      let reported = self.end(code)
      (end.failure, end.isUnanswered, end.proxyStatus, end.localError) = (
        reported.failure, reported.isUnanswered, reported.proxyStatus, reported.localError
      )
      let fault = handshake.flatMap(connections.takeFault)
      if reported.failure == .tlsCertificate || reported.failure == .tlsHost { end.certificateFault = fault }
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
    let value = easy.offset(info)
    return value > 0 ? .microseconds(value) : nil
  }
}

// MARK: Options

extension CurlTransfer {
  private func setConstants() throws(CurlError) {
    try easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    // Longer than any try may take. If a pinned address expired, libcurl would look up the name
    // itself.
    try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 3_600)
    // The proxy's response to CONNECT must not be read as the origin's.
    try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Chunks arrive undecoded and are parsed here.
    try easy.set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
    if roots != nil {
      // Each connection receives the roots when its handshake begins.
      try easy.set(CURLOPT_CAINFO, nil)
      try easy.set(CURLOPT_CAPATH, nil)
    }
    try easy.set(CURLOPT_BUFFERSIZE, Self.bufferSize)
  }

  private func setCallbacks() throws(CurlError) {
    try easy.set([CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA, CURLOPT_SSL_CTX_DATA], owner: self)
    let handle = unsafe easy.handle
    try easy.check(CURLOPT_WRITEFUNCTION, unsafe curl_easy_setopt_data_function(handle, CURLOPT_WRITEFUNCTION, Self.receivedBody))
    try easy.check(CURLOPT_HEADERFUNCTION, unsafe curl_easy_setopt_data_function(handle, CURLOPT_HEADERFUNCTION, Self.receivedHeader))
    try easy.check(CURLOPT_OPENSOCKETFUNCTION, unsafe curl_easy_setopt_opensocket_function(handle, Self.openSocket))
    try easy.set([CURLOPT_CLOSESOCKETDATA], owner: connections)
    try easy.check(CURLOPT_CLOSESOCKETFUNCTION, unsafe curl_easy_setopt_closesocket_function(handle, Self.closeSocket))
    try easy.check(CURLOPT_PREREQFUNCTION, unsafe curl_easy_setopt_prereq_function(handle, Self.aboutToRequest))
    try easy.check(CURLOPT_SSL_CTX_FUNCTION, unsafe curl_easy_setopt_ssl_ctx_function(handle, Self.aboutToShakeHands))
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
      code: code, systemError: easy.systemError, socketError: socketError, head: head, isSent: easy.isSent,
      isSecuring: isSecure && easy.number(CURLINFO_PRIMARY_PORT) != 0 && microseconds(CURLINFO_APPCONNECT_TIME_T) == nil,
      speaksHTTP2: speaksHTTP2, text: easy.detail)
    if request?.proxy != nil { end.proxy = isSecure ? .tunnelling(status: easy.number(CURLINFO_HTTP_CONNECTCODE)) : .forwarding }
    return end
  }
}
