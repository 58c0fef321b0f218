internal import AttacheTesting
internal import Glibc

/// A push service that `attache origin` plays. The receiver of a request selects the answer.
struct PushOrigin {
  let server: PushServer
  /// The key's file, and what identifies the key.
  let key: String
  /// The flags of a sender for the key.
  let flags: String
  /// Contains the key's file.
  private let folder: StageFolder

  static let defaultTopic = "com.example.app"

  /// Apple's reason for each status that a device token selects, and the status.
  ///
  /// Source: https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
  private static let reasons: [(status: Int, reason: String)] = [
    (400, "BadDeviceToken"), (403, "ExpiredProviderToken"), (410, "Unregistered"), (413, "PayloadTooLarge"), (429, "TooManyRequests"),
    (500, "InternalServerError"), (503, "ServiceUnavailable"),
  ]

  /// Google's error codes, and the status of each.
  ///
  /// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
  private static let errorCodes: [(status: Int, code: String)] = [
    (400, "INVALID_ARGUMENT"), (401, "THIRD_PARTY_AUTH_ERROR"), (403, "SENDER_ID_MISMATCH"), (404, "UNREGISTERED"),
    (429, "QUOTA_EXCEEDED"), (500, "INTERNAL"), (503, "UNAVAILABLE"),
  ]

  /// The text for the help.
  static let help = """
    --apns and --fcm play a push service instead, to try a sender: standard error names the root certificate's file, a new key's \
    file and the sender's flags for them. The files are removed at the end. The receiver selects the answer:

    With --apns, a device token that begins with one of these numbers gets that status and reason:
    \(reasons.map { "  \($0.status)  \($0.reason)" }.joined(separator: "\n"))

    With --fcm, a registration token that begins with one of these error codes, such as UNREGISTERED-12345678, gets that error. \
    A registration token has at least 20 bytes.
    \(errorCodes.map { "  \($0.status)  \($0.code)" }.joined(separator: "\n"))

    A request that breaks the service's rules is refused as the service documents it. Every other is accepted.
    """

  /// Starts Apple's push service and writes a new signing key.
  static func startAPNs(port: Int, topic: String?, channels: Set<String>, watch: PushServer.Watch?) async throws -> PushOrigin {
    let (folder, tokens) = (try StageFolder(), ProviderTokenCheck())
    let topic = topic ?? defaultTopic
    let file = "AuthKey_\(tokens.keyID).p8"
    try folder.writeSecret(tokens.privateKeyPEM, to: file)
    let server = try await PushServer.startAPNs(
      port: port, tokens: tokens, topics: [topic], channels: channels, keepsRequests: false, respond: answerOfApple, watch: watch)
    return PushOrigin(
      server: server, key: "\(folder[file]) (key id \(tokens.keyID), team id \(tokens.teamID))",
      flags: "--apns-key \(folder[file]) --apns-key-id \(tokens.keyID) --apns-team-id \(tokens.teamID) --apns-topic \(topic)",
      folder: folder)
  }

  /// Starts Google's push service and writes the key of a new service account.
  static func startFCM(port: Int, watch: PushServer.Watch?) async throws -> PushOrigin {
    let (folder, account) = (try StageFolder(), GoogleAccount())
    let file = "service-account.json"
    let server = try await PushServer.startFCM(
      account: account, port: port, keepsRequests: false, respond: answerOfGoogle, watch: watch)
    do {
      try folder.writeSecret(account.keyFile(tokenURI: server.tokenURI), to: file)
    } catch {
      await server.stop()
      throw error
    }
    return PushOrigin(
      server: server, key: "\(folder[file]) (project \(account.projectID))", flags: "--fcm-service-account \(folder[file])", folder: folder)
  }

  /// Stops the server and removes the files.
  func stop() async {
    await server.stop()
    folder.remove()
  }

  private static func answerOfApple(to request: PushServerRequest) -> PushServerAnswer {
    guard let (status, reason) = reasons.first(where: { request.deviceToken.hasPrefix("\($0.status)") }) else { return .delivered }
    return .error(status, reason, timestamp: status == 410 ? Int64(time(nil)) * 1_000 : nil)
  }

  private static func answerOfGoogle(to request: PushServerRequest) -> PushServerAnswer {
    errorCodes.first { request.deviceToken.hasPrefix($0.code) }.map { .error($0.status, $0.code) } ?? .delivered
  }
}
