internal import CCurl
internal import Glibc

/// What libcurl says of an exchange that it has done with: the one place that knows what 7.88.1 answers for which mishap.
struct CurlEnd {
  var code: CURLcode
  /// The errno of the last call that failed, 0 for none.
  var systemError: Int32
  var headIsComplete: Bool
  /// CURLE_RECV_ERROR stands for a broken connection as well as for a chunk that libcurl cannot read; only its text tells them apart.
  var isBadChunk: Bool

  /// The reason; nil when libcurl saw nothing wrong.
  var failure: Reason? {
    switch code {
    case CURLE_OK: nil
    case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT: systemError == ECONNREFUSED ? .connectRefused : .connectFailed
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: .tlsCertificate
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: .tlsHandshake
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .httpProtocol
    case CURLE_HTTP2, CURLE_HTTP2_STREAM: headIsComplete ? .httpTruncated : .httpProtocol
    case CURLE_PARTIAL_FILE: .httpTruncated
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR: .connectReset
    case CURLE_RECV_ERROR: headIsComplete ? (isBadChunk ? .httpFraming : .httpTruncated) : .connectReset
    // What a line of more than 100 KB among the headers comes to.
    case CURLE_OUT_OF_MEMORY: .httpHeaders
    // A trailer that reads like a status line, for one.
    default: headIsComplete ? .httpFraming : .internal
    }
  }
}
