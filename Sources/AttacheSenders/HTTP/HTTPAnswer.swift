internal import AttacheQueue

/// Converts a response to a delivery answer.
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
}
