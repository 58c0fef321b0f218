internal import AttacheQueue
internal import CCurl

/// What a response, or the lack of one, says of a result.
enum HTTPAnswer {
  /// Source: RFC 9110, section 15, for the classes; 408, 429 and 5xx may pass by themselves.
  ///
  /// - Parameters:
  ///   - retryAfter: of the field Retry-After; nil where there is none.
  ///   - body: the beginning of the response's body, for people.
  static func of(status: Int, retryAfter: Duration?, body: String) -> DeliveryAnswer {
    let text = body.isEmpty ? "status \(status)" : "status \(status): \(body)"
    return switch status {
    case 200...299: .delivered(status: "\(status)")
    case 408, 429, 500...599: .retry(after: retryAfter, reason: text)
    default: .dropped(reason: text)
    }
  }

  /// - Parameters:
  ///   - wasSent: whether anything of the request was sent.
  ///   - text: libcurl's own, what went wrong.
  static func of(failure code: CURLcode, wasSent: Bool, _ text: String) -> DeliveryAnswer {
    switch code {
    case CURLE_OPERATION_TIMEDOUT where !wasSent: .refused(reason: text)
    // The request was not sent: every other would fare the same.
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR,
      CURLE_SSL_CACERT_BADFILE,
      CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
      .refused(reason: text)
    default: .retry(after: nil, reason: text)
    }
  }
}
