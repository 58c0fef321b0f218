/// The meaning of an answer from Google, and its consequence.
///
/// Sources: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode and
/// https://firebase.google.com/docs/cloud-messaging/scale-fcm
package struct FCMVerdict: Hashable, Sendable {
  package enum Consequence: Hashable, Sendable {
    case delivered
    /// The registration token is invalid: nothing more may be sent to it.
    case invalidToken
    /// The registration token belongs to another project, or the key does (``SenderMismatches``).
    case otherSender
    /// Google will never accept this message, but may accept others.
    case dropped
    /// Google may accept it later.
    case retry
    /// Google may accept it later, and fewer messages a second.
    case overQuota
    /// The same for each message to a device of Apple or a browser, until the user changes something.
    case otherService
    /// It is sent again at once with a new access token.
    case renewToken
    /// Google accepts no message until the user changes something.
    case refused
    /// The answer may be about this message, or about all.
    case rejected
  }

  package var consequence: Consequence
  /// What the answer means.
  package var meaning: String
  /// What the user can do; empty when there is nothing to do.
  package var advice = ""

  init(_ consequence: Consequence, _ meaning: String, _ advice: String = "") {
    (self.consequence, self.meaning, self.advice) = (consequence, meaning, advice)
  }

  /// The verdicts on Google's error codes. The code says more than the status.
  package static let table: [(code: String, verdict: FCMVerdict)] = [
    ("UNREGISTERED", FCMVerdict(.invalidToken, "the app was removed from the device, or the registration token has expired")),
    (
      "INVALID_ARGUMENT",
      FCMVerdict(.dropped, "a member of the message is invalid", "check the message against FCM's HTTP v1 API; its data has only strings")
    ),
    (
      "SENDER_ID_MISMATCH",
      FCMVerdict(
        .otherSender, "the registration token belongs to another project", "check that --fcm-service-account is of the app's project")
    ),
    ("QUOTA_EXCEEDED", FCMVerdict(.overQuota, "too many messages go to this project, device or topic")),
    ("UNAVAILABLE", FCMVerdict(.retry, "Google's service is overloaded")),
    ("INTERNAL", FCMVerdict(.retry, "Google's server has failed")),
    (
      "THIRD_PARTY_AUTH_ERROR",
      FCMVerdict(
        .otherService, "Google cannot authenticate itself at Apple's or the browser's push service; messages to Android are not affected",
        "upload the key for APNs in the Firebase console, or check the keys for web push")
    ),
  ]

  private static let verdicts = Dictionary(table.map { (Array($0.code.utf8), $0.verdict) }, uniquingKeysWith: { first, _ in first })

  /// Returns the verdict on an answer.
  package static func of(_ reply: FCMReply) -> FCMVerdict {
    if reply.status == 200 {
      guard reply.messageName == nil else { return FCMVerdict(.delivered, "Google has accepted the message") }
      return FCMVerdict(.refused, "this is not an answer of FCM", "check --fcm-host")
    }
    if reply.namesToken, 400...499 ~= reply.status {
      return FCMVerdict(.invalidToken, "the registration token is invalid")
    }
    if let code = reply.errorCode, let verdict = verdicts[Array(code.utf8)] { return verdict }
    return ofStatus(reply)
  }

  /// Returns the verdict on a status whose error code is missing or unknown.
  private static func ofStatus(_ reply: FCMReply) -> FCMVerdict {
    switch reply.status {
    case 401: FCMVerdict(.renewToken, "Google does not accept the access token", "check --fcm-service-account, and this machine's clock")
    case 403:
      FCMVerdict(
        .refused, "the service account may not send messages of this project",
        "enable the Firebase Cloud Messaging API, and give the account a role that may send")
    case 429: FCMVerdict(.overQuota, "too many messages")
    case 408, 500...599: FCMVerdict(.retry, "Google's service has failed")
    case 400 where reply.statusName?.utf8.elementsEqual("INVALID_ARGUMENT".utf8) == true:
      FCMVerdict(.dropped, "the message is invalid")
    case 400...499 where reply.isError:
      FCMVerdict(.rejected, "Google's documentation does not have this answer", "check the project of --fcm-service-account")
    default: FCMVerdict(.refused, "this is not an answer of FCM", "check --fcm-host")
    }
  }

  /// One line: the answer, what it means, Google's words, and what to do.
  package func text(of reply: FCMReply) -> String {
    let words = consequence == .delivered || reply.words.isEmpty ? "" : " (\(reply.words))"
    return "\(reply.name): \(meaning)\(words)" + (advice.isEmpty ? "" : "; \(advice)")
  }
}
