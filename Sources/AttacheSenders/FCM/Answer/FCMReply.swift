internal import Attache

/// The answer of FCM, as far as it was understood.
///
/// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
package struct FCMReply: Hashable, Sendable {
  /// The status of the response.
  package var status: Int
  /// FCM's own error code, `error.details[].errorCode`: ASCII letters, digits and underscores; nil without one.
  package var errorCode: String?
  /// The name of Google's status, `error.status`; nil without one.
  package var statusName: String?
  /// Whether the answer is an error in Google's form.
  package var isError = false
  /// Whether a detail says that the registration token is invalid.
  package var namesToken = false
  /// Google's words, in one line; empty without any.
  package var words = ""
  /// The name of an accepted message; nil without one.
  package var messageName: String?
  /// The value of Retry-After.
  package var retryAfter: Duration?

  package init(status: Int, errorCode: String? = nil) {
    (self.status, self.errorCode) = (status, errorCode)
  }

  /// The status, and the error code or the status's name, for messages.
  package var name: String { (errorCode ?? statusName).map { "\(status) \($0)" } ?? "\(status)" }
}

extension FCMReply {
  /// The bytes of a body that are read. Google's have less than 2,000.
  static let maximumBody = 65_536
  /// The longest error code in bytes; Google's longest has 22.
  private static let maximumCode = 64

  /// Parses an answer. The body is from a stranger.
  init(_ reply: HTTPReply, _ parser: JSONParser) {
    self.init(status: reply.status)
    retryAfter = reply.retryAfter
    guard let root = parser.parse(copying: reply.body) else {
      words = HTTPAnswer.excerpt(of: reply.body)
      return
    }
    messageName = root.member("name")?.text.map { PrintableText.of($0.string) }
    guard let error = root.member("error"), error.isObject else {
      words = HTTPAnswer.excerpt(of: reply.body)
      return
    }
    isError = true
    words = error.member("message")?.text.map { PrintableText.of($0.string) } ?? ""
    statusName = Self.code(error.member("status"))
    error.member("details")?.forEachElement { detail in
      errorCode = errorCode ?? Self.code(detail.member("errorCode"))
      detail.member("fieldViolations")?.forEachElement { violation in
        if violation.member("field")?.text?.utf8.elementsEqual("message.token".utf8) == true { namesToken = true }
      }
    }
  }

  private static func code(_ value: JSONElement?) -> String? {
    guard let text = value?.text, 1...maximumCode ~= text.utf8.count else { return nil }
    let isWord = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: byte == UInt8(ascii: "_")
      }
    }
    return isWord ? text.string : nil
  }
}
