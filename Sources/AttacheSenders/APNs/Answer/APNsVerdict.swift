/// The meaning of an answer from Apple, and its consequence.
///
/// Sources:
/// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns, and
/// https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns for broadcasts
package struct APNsVerdict: Hashable, Sendable {
  package enum Consequence: Hashable, Sendable {
    case delivered
    /// The device token is invalid for the topic: nothing more may be sent to it.
    case invalidToken
    /// Apple will never accept this payload, but may accept others.
    case dropped
    /// Apple may accept it later.
    case retry
    /// It is sent again at once with a new provider token.
    case renewToken
    /// Apple accepts no payload until the user changes something.
    case refused
    /// Like ``refused`` when the topic is the user's setting; like ``dropped`` when it is from the
    /// payload.
    case refusedTopic
  }

  package var consequence: Consequence
  /// What the answer means.
  package var meaning: String
  /// What the user can do; empty when there is nothing to do.
  package var advice = ""

  /// The verdict on a status and a reason that Apple documents.
  package struct Row: Sendable {
    package var status: Int
    package var reason: String?
    package var verdict: APNsVerdict

    init(_ status: Int, _ reason: String?, _ consequence: Consequence, _ meaning: String, _ advice: String = "") {
      (self.status, self.reason) = (status, reason)
      verdict = APNsVerdict(consequence: consequence, meaning: meaning, advice: advice)
    }
  }

  package static let table = [
    Row(200, nil, .delivered, "Apple has accepted the notification"),
    Row(
      400, "BadChannelId", .dropped, "the channel's identifier is not in Base64, or is too long", "check the member at --apns-channel-path"),
    Row(400, "BadCollapseId", .dropped, "the collapse identifier is longer than 64 bytes"),
    Row(400, "BadDeviceToken", .invalidToken, "the device token is invalid, or belongs to the other environment", "see --apns-sandbox"),
    Row(400, "BadExpirationDate", .dropped, "apns-expiration is invalid"),
    Row(400, "BadMessageId", .dropped, "the request's identifier is invalid"),
    Row(400, "BadPriority", .dropped, "apns-priority is invalid"),
    Row(400, "BadTopic", .refusedTopic, "the topic is invalid", "check --apns-topic"),
    Row(
      400, "ChannelNotRegistered", .dropped, "the channel does not exist, or exists in the other environment", "see --apns-sandbox"),
    Row(400, "DeviceTokenNotForTopic", .invalidToken, "the device token belongs to another topic", "check --apns-topic"),
    Row(400, "DuplicateHeaders", .dropped, "a header occurs twice"),
    Row(
      400, "FeatureNotEnabled", .refusedTopic, "the app may not broadcast",
      "enable broadcasts for its identifier on Apple's developer site, or check --apns-topic"),
    Row(400, "IdleTimeout", .retry, "the connection was idle for too long"),
    Row(400, "InvalidPushType", .dropped, "apns-push-type is invalid"),
    Row(400, "MissingChannelId", .dropped, "the broadcast names no channel"),
    Row(400, "MissingDeviceToken", .dropped, "the path contains no device token"),
    Row(400, "MissingPushType", .dropped, "apns-push-type is missing"),
    Row(400, "MissingTopic", .refusedTopic, "the topic is missing", "give --apns-topic"),
    Row(400, "PayloadEmpty", .dropped, "the payload is empty"),
    Row(
      400, "TopicDisallowed", .refusedTopic, "pushing to this topic is not allowed",
      "check --apns-topic, and what the key or certificate is for"),
    Row(403, "BadCertificate", .refused, "the client certificate is invalid", "renew the file of --apns-certificate"),
    Row(
      403, "BadCertificateEnvironment", .refused, "the client certificate is for the other environment",
      "give or remove --apns-sandbox, or use another certificate"),
    Row(
      403, "BadEnvironmentKeyIdInToken", .refused, "the key is for the other environment",
      "give or remove --apns-sandbox, or use another key"),
    // The reason that Apple's servers send in practice. Apple's page documents the one above.
    Row(
      403, "BadEnvironmentKeyInToken", .refused, "the key is for the other environment", "give or remove --apns-sandbox, or use another key"
    ),
    Row(403, "ExpiredProviderToken", .renewToken, "the provider token is too old", "check this machine's clock"),
    Row(403, "Forbidden", .refused, "the action is not allowed", "check what the key or certificate may do"),
    Row(
      403, "InvalidProviderToken", .refused, "the provider token is invalid or its signature is wrong",
      "check --apns-key, --apns-key-id and --apns-team-id"),
    Row(
      403, "MissingProviderToken", .refused, "the request had neither a provider token nor a client certificate",
      "give --apns-key or --apns-certificate"),
    Row(
      403, "UnrelatedKeyIdInToken", .refused, "the key is unrelated to the connection's first one", "check --apns-key-id and --apns-topic"),
    Row(404, "BadPath", .dropped, "the path is invalid"),
    Row(405, "MethodNotAllowed", .dropped, "the method is not POST"),
    Row(410, "ExpiredToken", .invalidToken, "the device token has expired"),
    Row(410, "Unregistered", .invalidToken, "the device token is no longer active for the topic"),
    Row(
      413, "PayloadTooLarge", .dropped, "the payload is larger than 4,096 bytes, or than 5,120 of a VoIP push or a broadcast",
      "see --max-payload"),
    Row(
      429, "TooManyProviderTokenUpdates", .refused, "the provider token changed too often",
      "wait 20 minutes, set the clocks of all machines that use this key, and end other programs that sign tokens with it: all of attache's use the same claims for 20 minutes"
    ),
    Row(429, "TooManyRequests", .retry, "too many notifications went to this device or channel"),
    Row(500, "InternalServerError", .retry, "Apple's server has failed"),
    Row(503, "ServiceUnavailable", .retry, "Apple's service is unavailable"),
    Row(503, "Shutdown", .retry, "Apple's server is shutting down"),
  ]

  private struct Key: Hashable {
    var status: Int
    /// The reason's UTF-8.
    var reason: [UInt8]
  }

  private static let verdicts = Dictionary(
    table.map { (Key(status: $0.status, reason: Array(($0.reason ?? "").utf8)), $0.verdict) }, uniquingKeysWith: { first, _ in first })

  private static let ofReason = Dictionary(
    table.compactMap { row in row.reason.map { (Array($0.utf8), row.verdict) } }, uniquingKeysWith: { first, _ in first })

  /// Returns the verdict on an answer.
  package static func of(_ reply: APNsReply) -> APNsVerdict {
    if reply.status == 200 { return table[0].verdict }
    let reason = Array((reply.reason ?? "").utf8)
    if let verdict = verdicts[Key(status: reply.status, reason: reason)] { return verdict }
    // If Apple sends a documented reason with another status, the reason says more.
    return (400...499 ~= reply.status ? ofReason[reason] : nil) ?? ofStatus(reply.status)
  }

  /// Returns the verdict on a status whose reason is missing or unknown.
  private static func ofStatus(_ status: Int) -> APNsVerdict {
    let undocumented = "Apple's documentation does not have this answer"
    return switch status {
    case 401, 403, 407:
      APNsVerdict(consequence: .refused, meaning: "the server does not accept the sender", advice: "check the key or the certificate")
    case 410: APNsVerdict(consequence: .invalidToken, meaning: "the device token is no longer active")
    case 408, 429, 500...599: APNsVerdict(consequence: .retry, meaning: undocumented)
    case 400...499: APNsVerdict(consequence: .dropped, meaning: undocumented)
    default: APNsVerdict(consequence: .refused, meaning: "this is not an answer of APNs", advice: "check --apns-host")
    }
  }

  /// One line: the answer, what it means, and what to do.
  package func text(of reply: APNsReply) -> String {
    "\(reply.name): \(meaning)" + (advice.isEmpty ? "" : "; \(advice)")
  }
}
