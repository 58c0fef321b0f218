internal import CCurl
internal import Glibc

/// What libcurl says of an exchange that it has done with: the one place that knows what 7.88.1 answers for which mishap.
struct CurlEnd {
  var code: CURLcode
  /// The errno of the last call that failed, 0 for none.
  var systemError: Int32
  var head: ResponseHead
  /// Whether TLS was to be spoken over a connection that had come about.
  var isSecuring: Bool
  /// What libcurl wrote into its error buffer: its codes stand for several mishaps, which only the text tells apart.
  var text: String

  /// The reason; nil when libcurl saw nothing wrong.
  var failure: Reason? {
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
    // More than five transfer codings.
    case CURLE_BAD_CONTENT_ENCODING: .httpFraming
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: head.isComplete ? .httpTruncated : .httpProtocol
    case CURLE_PARTIAL_FILE: .httpTruncated
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: asksForCertificate ? .tlsHandshake : broken
    case CURLE_GOT_NOTHING: .connectReset
    // What a line of more than 100 KB among the headers comes to.
    case CURLE_OUT_OF_MEMORY: .httpHeaders
    // A trailer that reads like a status line, for one.
    default: head.isComplete ? .httpFraming : .internal
    }
  }

  /// Whether a handshake ended without a word of the peer's.
  var isUnanswered: Bool {
    guard failure == .tlsHandshake, !asksForCertificate else { return false }
    return OpenSSLError(in: text)?.isUnanswered ?? true
  }

  /// libcurl gives one code for a bad certificate and for a good one of somebody else's, whose text speaks of the "subject name".
  private var isForAnotherName: Bool {
    text.contains("subject name") || text.contains("common name")
  }

  private var asksForCertificate: Bool {
    !head.isComplete && OpenSSLError(in: text)?.asksForCertificate == true
  }

  /// A broken connection, or a chunk that libcurl cannot read.
  private var broken: Reason {
    guard head.isComplete, code == CURLE_RECV_ERROR else { return .connectReset }
    return text.contains("chunked-encoding") ? .httpFraming : .httpTruncated
  }
}
