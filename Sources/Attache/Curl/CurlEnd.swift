internal import CCurl
internal import Glibc

/// Interprets libcurl's result of an exchange. No other type maps the error codes of 7.88.1 to
/// their causes.
struct CurlEnd {
  /// The progress of an exchange with a proxy.
  enum ProxyCourse: Equatable {
    case none
    /// The proxy forwards the request itself, without a tunnel.
    case forwarding
    /// The exchange needs a tunnel. `status` is the proxy's response to CONNECT, or 0 before a
    /// response.
    case tunnelling(status: Int)
  }

  var code: CURLcode
  /// The errno of the last call that failed, or 0.
  var systemError: Int32
  /// The errno when this machine could not open a socket, or 0.
  var socketError: Int32
  var head: ResponseHead
  /// Whether the request was sent, at least in part.
  var isSent: Bool
  /// Whether the connection was established but its TLS handshake was not complete.
  var isSecuring: Bool
  /// The progress with a proxy, which precedes the exchange with the origin.
  var proxy = ProxyCourse.none
  /// Whether the request was sent over HTTP/2.
  var speaksHTTP2: Bool
  /// The content of libcurl's error buffer. One code of libcurl stands for several errors, and only
  /// the text distinguishes them.
  var text: String

  /// The reason for the failure, or nil when libcurl reported no error.
  var failure: Reason? {
    code != CURLE_OK && isOfProxy ? .connectProxy : failureOfOrigin
  }

  /// The errno when this machine itself failed, for example without a free descriptor, a free port
  /// or a route; otherwise nil.
  var localError: Int32? {
    if isOutOfMemory { return ENOMEM }
    guard code == CURLE_COULDNT_CONNECT else { return nil }
    if socketError != 0 { return socketError }
    return Self.localErrors.contains(systemError) ? systemError : nil
  }

  /// The errors of connect(2) that come from this machine or its network, before anything has
  /// reached the origin.
  private static let localErrors: Set<Int32> = [
    EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRNOTAVAIL, EADDRINUSE, EACCES, EPERM, ENETDOWN, ENETUNREACH, EAFNOSUPPORT, EPROTONOSUPPORT,
  ]

  /// The status that the proxy returned instead of a tunnel.
  var proxyStatus: Int? {
    guard failure == .connectProxy, case .tunnelling(let status) = proxy, status != 0 else { return nil }
    return status
  }

  private var isOfProxy: Bool {
    switch proxy {
    case .none: false
    case .forwarding: code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT
    case .tunnelling(let status): !(200..<300).contains(status)
    }
  }

  private var failureOfOrigin: Reason? {
    switch code {
    case CURLE_OK: nil
    case CURLE_OPERATION_TIMEDOUT where isSecuring: .tlsHandshake
    case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT: systemError == ECONNREFUSED ? .connectRefused : .connectFailed
    case CURLE_PEER_FAILED_VERIFICATION: isForAnotherName ? .tlsHost : .tlsCertificate
    case CURLE_SSL_CACERT_BADFILE: .tlsCertificate
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
      OpenSSLError(in: text)?.meaning ?? .tlsHandshake
    case CURLE_UNSUPPORTED_PROTOCOL: .httpProtocol
    // A line without a colon or with a NUL, or an invalid length.
    case CURLE_WEIRD_SERVER_REPLY: head.mistakeInLine
    // A field name that contains a CR.
    case CURLE_BAD_FUNCTION_ARGUMENT where !head.isComplete: head.mistakeInLine
    // More than five transfer codings.
    case CURLE_BAD_CONTENT_ENCODING: .httpFraming
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: head.isComplete ? .httpTruncated : .httpProtocol
    case CURLE_PARTIAL_FILE: .httpTruncated
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: asksForCertificate ? .tlsHandshake : brokenFrames ?? broken
    // Over HTTP/2, the origin has sent frames, but no response.
    case CURLE_GOT_NOTHING: speaksHTTP2 ? .httpProtocol : .connectReset
    case CURLE_OUT_OF_MEMORY: isOutOfMemory ? .internal : .httpHeaders
    // For example, a trailer that looks like a status line.
    default: head.isComplete ? .httpFraming : .internal
    }
  }

  private var isOutOfMemory: Bool {
    code == CURLE_OUT_OF_MEMORY && Self.isOutOfMemory(isSent: isSent, isHeadComplete: head.isComplete, lack: .ofMemory)
  }

  /// Whether memory is short after CURLE_OUT_OF_MEMORY. libcurl returns that code for a header line of
  /// more than 100 KB, too, which it can only read between the request and the end of the header.
  static func isOutOfMemory(isSent: Bool, isHeadComplete: Bool, lack: Shortage?) -> Bool {
    !isSent || isHeadComplete || lack != nil
  }

  /// Whether the failure may be temporary: a handshake got no alert from the peer (it timed out, or
  /// the connection closed), or the proxy gave no answer or a status of 502, 503 or 504.
  var isUnanswered: Bool {
    if failure == .connectProxy { return proxyStatus.map { [502, 503, 504].contains($0) } ?? true }
    guard failure == .tlsHandshake, !asksForCertificate else { return false }
    return OpenSSLError(in: text)?.isUnanswered ?? true
  }

  /// libcurl returns the same code for an invalid certificate and for a valid one of another host.
  /// For the latter, its text mentions the "subject name".
  private var isForAnotherName: Bool {
    ["subject name", "common name", "hostname mismatch", "IP address mismatch"].contains { text.contains($0) }
  }

  private var asksForCertificate: Bool {
    !head.isComplete && OpenSSLError(in: text)?.asksForCertificate == true
  }

  /// The reason when libnghttp2 reports frames that break its rules, or nil.
  private var brokenFrames: Reason? {
    guard let start = text.firstRange(of: "nghttp2_session_mem_recv() returned ")?.upperBound else { return nil }
    if head.isComplete { return .httpTruncated }
    // -905 is too many CONTINUATION frames; -902 is libcurl's callback, which holds 128 KB of a
    // header.
    return ["-905", "-902"].contains(String(text[start...].prefix(4))) ? .httpHeaders : .httpProtocol
  }

  /// The reason for a broken connection, or for a chunk that libcurl cannot parse.
  private var broken: Reason {
    guard head.isComplete, code == CURLE_RECV_ERROR else { return .connectReset }
    return text.contains("chunked-encoding") ? .httpFraming : .httpTruncated
  }
}
