internal import AttacheQueue
internal import CCurl

/// Converts a response, or a failed transfer, to a delivery answer.
enum HTTPAnswer {
  /// Returns the answer for a response. 408, 429 and 5xx may be transient.
  ///
  /// Source: RFC 9110, section 15, for the status classes.
  ///
  /// - Parameters:
  ///   - retryAfter: the value of the field Retry-After; nil without the field.
  ///   - body: the beginning of the response's body, for messages.
  static func of(status: Int, retryAfter: Duration?, body: String) -> DeliveryAnswer {
    let text = body.isEmpty ? "status \(status)" : "status \(status): \(body)"
    return switch status {
    case 200...299: .delivered(status: "\(status)")
    case 408, 429, 500...599: .retry(after: retryAfter, reason: text)
    default: .dropped(reason: text)
    }
  }

  /// Returns the answer for a failed transfer.
  ///
  /// - Parameters:
  ///   - wasSent: whether any part of the request was sent.
  ///   - text: libcurl's error message.
  static func of(failure code: CURLcode, wasSent: Bool, _ text: String) -> DeliveryAnswer {
    switch code {
    case CURLE_OPERATION_TIMEDOUT where !wasSent: .refused(reason: text)
    // The request was not sent, and every other request would fail in the same way.
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR,
      CURLE_SSL_CACERT_BADFILE,
      CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
      .refused(reason: text)
    default: .retry(after: nil, reason: text)
    }
  }
}
