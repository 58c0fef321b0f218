internal import Attache

/// Apple's rules for a request, and the error for each violation.
///
/// Sources:
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns,
/// https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns
struct APNsRules: PushService {
  let tokens: ProviderTokenCheck?
  let topics: Set<String>
  let channels: Set<String>

  func identify(_ request: inout PushServerRequest) {
    let prefix = "/3/device/"
    if request.path.hasPrefix(prefix) { request.deviceToken = String(request.path.dropFirst(prefix.count)) }
    request.receiver = request.app == nil ? request.deviceToken : request.field("apns-channel-id") ?? ""
    request.identifier = request.field(identifierName(of: request)) ?? ""
  }

  func check(_ request: PushServerRequest) throws(PushRefusal) {
    guard request.method == "POST" else { throw PushRefusal(405, "MethodNotAllowed") }
    guard request.app != nil || request.path.hasPrefix("/3/device/") else { throw PushRefusal(404, "BadPath") }
    guard Set(request.fields.map(\.name)).count == request.fields.count else { throw PushRefusal(400, "DuplicateHeaders") }
    try tokens?.check(request.field("authorization"))
    if let app = request.app { return try checkBroadcast(request, app) }
    try checkFields(request)
    try checkTopic(request)
    guard !request.deviceToken.isEmpty else { throw PushRefusal(400, "MissingDeviceToken") }
    guard Self.isHex(request.deviceToken), request.deviceToken.utf8.count >= 64 else { throw PushRefusal(400, "BadDeviceToken") }
    guard !request.body.isEmpty, isObject(request.body) else { throw PushRefusal(400, "PayloadEmpty") }
    let maximum = request.field("apns-push-type") == "voip" ? 5_120 : 4_096
    guard request.body.count <= maximum else { throw PushRefusal(413, "PayloadTooLarge") }
  }

  func fields(ofAnswerTo request: PushServerRequest) -> [HeaderField] {
    let name = identifierName(of: request)
    return [HeaderField(name, request.field(name) ?? "00000000-0000-4000-8000-000000000000")]
  }

  func body(ofAccepted request: PushServerRequest) -> [UInt8] { [] }

  func body(of refusal: PushRefusal) -> [UInt8] {
    guard let reason = refusal.reason else { return [] }
    let time = refusal.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
    return Array("{\"reason\":\"\(reason)\"\(time)}".utf8)
  }

  private func identifierName(of request: PushServerRequest) -> String {
    request.app == nil ? "apns-id" : "apns-request-id"
  }

  private func checkBroadcast(_ request: PushServerRequest, _ app: String) throws(PushRefusal) {
    guard topics.contains(app) else { throw PushRefusal(400, "FeatureNotEnabled") }
    guard let channel = request.field("apns-channel-id") else { throw PushRefusal(400, "MissingChannelId") }
    guard channels.contains(channel) else { throw PushRefusal(400, "ChannelNotRegistered") }
    guard let pushType = request.field("apns-push-type") else { throw PushRefusal(400, "MissingPushType") }
    guard pushType == "liveactivity" else { throw PushRefusal(400, "InvalidPushType") }
    if let identifier = request.field("apns-request-id"), !Self.isUUID(identifier) { throw PushRefusal(400, "BadMessageId") }
    guard (Int64(request.field("apns-expiration") ?? "") ?? -1) >= 0 else { throw PushRefusal(400, "BadExpirationDate") }
    guard ["10", "5", "1"].contains(request.field("apns-priority") ?? "10") else { throw PushRefusal(400, "BadPriority") }
    guard !request.body.isEmpty, isObject(request.body) else { throw PushRefusal(400, "PayloadEmpty") }
    guard request.body.count <= 5_120 else { throw PushRefusal(413, "PayloadTooLarge") }
  }

  private func checkFields(_ request: PushServerRequest) throws(PushRefusal) {
    if let identifier = request.field("apns-id"), !Self.isUUID(identifier) { throw PushRefusal(400, "BadMessageId") }
    if let expiration = request.field("apns-expiration"), (Int64(expiration) ?? -1) < 0 { throw PushRefusal(400, "BadExpirationDate") }
    if (request.field("apns-collapse-id")?.utf8.count ?? 0) > 64 { throw PushRefusal(400, "BadCollapseId") }
    guard let pushType = request.field("apns-push-type"), PushType(rawValue: pushType) != nil else {
      throw PushRefusal(400, "InvalidPushType")
    }
    let priority = request.field("apns-priority") ?? "10"
    guard ["10", "5", "1"].contains(priority), pushType != "background" || priority == "5" else { throw PushRefusal(400, "BadPriority") }
  }

  private func checkTopic(_ request: PushServerRequest) throws(PushRefusal) {
    guard let topic = request.field("apns-topic") else { throw PushRefusal(400, "MissingTopic") }
    guard !topic.isEmpty, topic.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw PushRefusal(400, "BadTopic") }
    let suffix = request.field("apns-push-type").flatMap(PushType.init)?.topicSuffix ?? ""
    guard topic.hasSuffix(suffix), topics.contains(topic) || topics.contains(String(topic.dropLast(suffix.count))) else {
      throw PushRefusal(400, "TopicDisallowed")
    }
  }

  private func isObject(_ body: [UInt8]) -> Bool {
    if case .push = PushReader().read(body) { true } else { false }
  }

  private static func isHex(_ text: String) -> Bool {
    text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  private static func isUUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { isHex(String($0)) }
  }
}
