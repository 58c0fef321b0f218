internal import Attache
internal import AttacheQueue

/// Converts a response to a delivery answer.
enum HTTPAnswer {
  /// Returns the answer for a response. 408, 429 and 5xx may be transient. 409, 413 and 422 are about
  /// one payload. Any other status, such as of a redirect or of a wrong password, may be about all.
  ///
  /// Source: RFC 9110, section 15, for the status classes.
  ///
  /// - Parameter acceptance: where the body of a 2xx response says whether the payload is accepted; with
  ///   nil it is.
  static func of(_ reply: HTTPReply, _ acceptance: HTTPAcceptance?, _ parser: JSONParser) -> DeliveryAnswer {
    let (status, retryAfter) = (reply.status, reply.retryAfter)
    let excerpt = excerpt(of: reply.body)
    let text = excerpt.isEmpty ? "status \(status)" : "status \(status): \(excerpt)"
    return switch status {
    case 200...299:
      acceptance?.answer(status: status, retryAfter: retryAfter, body: reply.body, excerpt: excerpt, parser)
        ?? .delivered(status: "\(status)")
    case 408, 429, 500...599: .retry(after: retryAfter, reason: text)
    case 409, 413, 422: .dropped(reason: text)
    default: .rejected(reason: text)
    }
  }

  /// The number of bytes of a body that a message contains.
  static let excerptLength = 200

  /// Returns the beginning of a body, for messages.
  static func excerpt(of body: [UInt8]) -> String {
    PrintableText.of(String(decoding: body.prefix(excerptLength), as: UTF8.self))
  }
}
