internal import CCurl
internal import Glibc

/// What libcurl says of an exchange that it has done with: the one place that knows what 7.88.1
/// answers for which mishap.
struct CurlEnd {
  /// How far an exchange has come with a proxy.
  enum ProxyCourse: Equatable {
    case none
    /// The proxy forwards the request itself: there is no tunnel.
    case forwarding
    /// There is to be a tunnel; the status is what the proxy answered to CONNECT, 0 for nothing
    /// yet.
    case tunnelling(status: Int)
  }

  var code: CURLcode
  /// The errno of the last call that failed, 0 for none.
  var systemError: Int32
  /// The errno with which this machine gave no socket, 0 for none.
  var socketError: Int32
  var head: ResponseHead
  /// Whether TLS was to be spoken over a connection that had come about.
  var isSecuring: Bool
  /// The way to a proxy and through it, which comes before the origin.
  var proxy = ProxyCourse.none
  /// Whether the request went over HTTP/2.
  var speaksHTTP2: Bool
  /// What libcurl wrote into its error buffer: its codes stand for several mishaps, which only the
  /// text tells apart.
  var text: String

  /// The reason; nil when libcurl saw nothing wrong.
  var failure: Reason? {
    code != CURLE_OK && isOfProxy ? .connectProxy : failureOfOrigin
  }

  /// The errno with which this machine itself failed, as without a descriptor, a port or a route;
  /// nil where it did not.
  var localError: Int32? {
    guard code == CURLE_COULDNT_CONNECT else { return nil }
    if socketError != 0 { return socketError }
    return Self.localErrors.contains(systemError) ? systemError : nil
  }

  /// The errors of connect(2) that come from this machine or its network, before anything has
  /// reached the origin.
  private static let localErrors: Set<Int32> = [
    EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, EADDRNOTAVAIL, EADDRINUSE, EACCES, EPERM, ENETDOWN, ENETUNREACH, EAFNOSUPPORT, EPROTONOSUPPORT,
  ]

  /// What the proxy answered in the place of a tunnel.
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
    // A line without a colon or with a NUL, or a length that is no number.
    case CURLE_WEIRD_SERVER_REPLY: head.mistakeInLine
    // A field whose name holds a CR.
    case CURLE_BAD_FUNCTION_ARGUMENT where !head.isComplete: head.mistakeInLine
    // More than five transfer codings.
    case CURLE_BAD_CONTENT_ENCODING: .httpFraming
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: head.isComplete ? .httpTruncated : .httpProtocol
    case CURLE_PARTIAL_FILE: .httpTruncated
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: asksForCertificate ? .tlsHandshake : brokenFrames ?? broken
    // Over HTTP/2 nothing but frames is something.
    case CURLE_GOT_NOTHING: speaksHTTP2 ? .httpProtocol : .connectReset
    // What a line of more than 100 KB among the headers comes to.
    case CURLE_OUT_OF_MEMORY: .httpHeaders
    // A trailer that reads like a status line, for one.
    default: head.isComplete ? .httpFraming : .internal
    }
  }

  /// Whether a handshake ended without a word of the peer's, or a proxy gave no tunnel, which may
  /// pass by itself.
  var isUnanswered: Bool {
    if failure == .connectProxy { return proxyStatus.map { [502, 503, 504].contains($0) } ?? true }
    guard failure == .tlsHandshake, !asksForCertificate else { return false }
    return OpenSSLError(in: text)?.isUnanswered ?? true
  }

  /// libcurl gives one code for a bad certificate and for a good one of somebody else's, whose text
  /// speaks of the "subject name".
  private var isForAnotherName: Bool {
    ["subject name", "common name", "hostname mismatch", "IP address mismatch"].contains { text.contains($0) }
  }

  private var asksForCertificate: Bool {
    !head.isComplete && OpenSSLError(in: text)?.asksForCertificate == true
  }

  /// What libnghttp2 says of frames that break its rules; nil when it says nothing.
  private var brokenFrames: Reason? {
    guard let start = text.firstRange(of: "nghttp2_session_mem_recv() returned ")?.upperBound else { return nil }
    if head.isComplete { return .httpTruncated }
    // Too many CONTINUATION frames, and libcurl's own function, which holds 128 KB of a header.
    return ["-905", "-902"].contains(String(text[start...].prefix(4))) ? .httpHeaders : .httpProtocol
  }

  /// A broken connection, or a chunk that libcurl cannot read.
  private var broken: Reason {
    guard head.isComplete, code == CURLE_RECV_ERROR else { return .connectReset }
    return text.contains("chunked-encoding") ? .httpFraming : .httpTruncated
  }
}
