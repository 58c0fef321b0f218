internal import Attache
internal import FoundationEssentials

/// Google's rules for a request, and the error for each violation.
///
/// Sources: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send,
/// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
struct FCMRules: PushService {
  let account: GoogleAccount
  let accessTokens: AccessTokens

  func identify(_ request: inout PushServerRequest) {
    guard request.path != TokenEndpoint.path, let target = FCMTarget(body: request.body) else { return }
    if case .token(let token) = target { request.deviceToken = token }
    request.receiver = target.text
    request.identifier = target.text
  }

  func responseBesidePushes(to request: PushServerRequest) -> PushResponse? {
    guard request.path == TokenEndpoint.path else { return nil }
    return TokenEndpoint(account: account, accessTokens: accessTokens).response(to: request)
  }

  func check(_ request: PushServerRequest) throws(PushRefusal) {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0].isEmpty, parts[1...2] == ["v1", "projects"], parts[4] == "messages:send" else {
      throw PushRefusal(404, nil)
    }
    guard request.method == "POST" else { throw PushRefusal(405, nil) }
    guard let authorization = request.field("authorization"), authorization.hasPrefix("Bearer "),
      accessTokens.isValid(String(authorization.dropFirst("Bearer ".count)), at: account.now())
    else { throw PushRefusal(401, nil) }
    guard parts[3] == account.projectID[...] else {
      throw PushRefusal(
        403, nil,
        message: "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/"
          + "\(parts[3])' (or it may not exist).",
        detail: .reason("IAM_PERMISSION_DENIED", domain: "cloudresourcemanager.googleapis.com"))
    }
    guard request.isContent("application/json") else { throw PushRefusal(400, nil, message: "The content-type is not application/json.") }
    try FCMMessage(request.body).check()
  }

  func fields(ofAnswerTo request: PushServerRequest) -> [HeaderField] {
    [HeaderField("content-type", "application/json; charset=UTF-8")]
  }

  func body(ofAccepted request: PushServerRequest) -> [UInt8] {
    let number = Int64(account.now() * 1_000_000)
    let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    let name = "0:\(number)%\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)"
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("name")
    writer.string("projects/\(account.projectID)/messages/\(name)")
    writer.endObject()
    return writer.bytes
  }

  func body(of refusal: PushRefusal) -> [UInt8] { GoogleError.body(of: refusal) }
}

extension PushServerRequest {
  /// Returns whether the body has a media type, such as `application/json`, which may have parameters.
  func isContent(_ mediaType: String) -> Bool {
    field("content-type")?.split(separator: ";").first?.lowercased().trimmingPrefix(" ") == mediaType[...]
  }
}
