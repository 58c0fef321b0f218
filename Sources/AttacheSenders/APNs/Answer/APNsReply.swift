internal import Attache

/// The server's answer, as far as it was understood.
package struct APNsReply: Hashable, Sendable {
  /// The value of `:status`.
  package var status: Int
  /// The body's `reason`, which has only ASCII letters and digits; nil without one.
  package var reason: String?
  /// The body's `timestamp`: when Apple learned that the token was invalid, in milliseconds since
  /// 1970.
  package var timestamp: Int64?
  /// The value of `Retry-After`, at most a day.
  package var retryAfter: Duration?

  package init(status: Int, reason: String? = nil, timestamp: Int64? = nil, retryAfter: Duration? = nil) {
    (self.status, self.reason, self.timestamp, self.retryAfter) = (status, reason, timestamp, retryAfter)
  }

  /// The status and the reason, for messages.
  package var name: String { reason.map { "\(status) \($0)" } ?? "\(status)" }
}

/// Parses answers. One thread at a time may use it.
final class APNsReplyReader {
  /// The maximum length of a reason in bytes; Apple's longest has 27.
  private static let maximumReason = 64
  private static let maximumPause = Duration.seconds(86_400)

  private let reader = DeliveryReader()
  private let reasonPlace = JSONPointer("reason")
  private let timestampPlace = JSONPointer("timestamp")

  /// Parses an answer.
  ///
  /// - Parameters:
  ///   - body: at most ``HTTP2Session/maximumBody`` bytes, not validated.
  ///   - retryAfter: the header's value, not validated; empty without the header.
  func read(status: Int, body: [UInt8], retryAfter: [UInt8]) -> APNsReply {
    var reply = APNsReply(status: status, retryAfter: Self.pause(retryAfter))
    guard !body.isEmpty else { return reply }
    reply.reason = reason(in: body)
    if let number = reader.value(at: timestampPlace, of: body), number.first == 0xFF {
      reply.timestamp = Int64(String(decoding: number.dropFirst(), as: UTF8.self)).flatMap { $0 >= 0 ? $0 : nil }
    }
    return reply
  }

  /// Returns the reason in a body, or in the data of a GOAWAY.
  func reason(in body: [UInt8]) -> String? {
    guard let text = reader.value(at: reasonPlace, of: body), 1...Self.maximumReason ~= text.count, text.allSatisfy(Self.isWord) else {
      return nil
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func pause(_ value: [UInt8]) -> Duration? {
    guard 1...9 ~= value.count, value.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      let seconds = Int64(String(decoding: value, as: UTF8.self))
    else { return nil }
    return min(.seconds(seconds), maximumPause)
  }
}
