internal import Attache
internal import AttacheQueue

/// Converts a response to a delivery answer.
enum HTTPAnswer {
  /// Returns the answer for a response. 408, 429 and 5xx may be transient. 409, 413 and 422 are about
  /// one payload. Any other status, such as of a redirect or of a wrong password, may be about all.
  ///
  /// Source: RFC 9110, section 15, for the status classes.
  ///
  /// - Parameters:
  ///   - retryAfter: the value of the field Retry-After; nil without the field.
  ///   - body: the response's body, or its beginning.
  ///   - acceptance: where the body of a 2xx response says whether the payload is accepted; with nil
  ///     it is.
  static func of(status: Int, retryAfter: Duration?, body: [UInt8], _ acceptance: HTTPAcceptance?, _ parser: JSONParser) -> DeliveryAnswer {
    let excerpt = PrintableText.of(String(decoding: body.prefix(HTTPRequest.excerptLength), as: UTF8.self))
    let text = excerpt.isEmpty ? "status \(status)" : "status \(status): \(excerpt)"
    return switch status {
    case 200...299:
      acceptance?.answer(status: status, retryAfter: retryAfter, body: body, excerpt: excerpt, parser) ?? .delivered(status: "\(status)")
    case 408, 429, 500...599: .retry(after: retryAfter, reason: text)
    case 409, 413, 422: .dropped(reason: text)
    default: .rejected(reason: text)
    }
  }
}
