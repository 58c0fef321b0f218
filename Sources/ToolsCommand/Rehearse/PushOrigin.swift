internal import AttacheTesting
internal import Glibc

/// A push service that `attache origin` plays. The receiver of a request selects the answer.
struct PushOrigin {
  let server: PushServer
  /// The key's file, and what identifies the key.
  let key: String
  /// The flags of a sender for the key.
  let flags: String
  /// Contains the files, unless they are kept.
  private let temporary: StageFolder?

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
    file and the sender's flags for them. The files are removed at the end, unless --keys keeps them. The receiver selects the answer:

    With --apns, a device token that begins with one of these numbers gets that status and reason:
    \(reasons.map { "  \($0.status)  \($0.reason)" }.joined(separator: "\n"))

    With --fcm, a registration token that begins with one of these error codes, such as UNREGISTERED-12345678, gets that error. \
    A registration token has at least 20 bytes.
    \(errorCodes.map { "  \($0.status)  \($0.code)" }.joined(separator: "\n"))

    A request that breaks the service's rules is refused as the service documents it. Every other is accepted.
    """

  /// Starts Apple's push service, and makes a signing key if the folder has none.
  ///
  /// - Parameter kept: a folder that keeps the files; nil uses a temporary one.
  static func startAPNs(
    port: Int, keptIn kept: String?, topic: String?, channels: Set<String>, watch: PushServer.Watch?
  ) async throws -> PushOrigin {
    let (keys, temporary) = try folders(kept)
    let (tokens, topic) = (try ProviderTokenCheck(keptIn: keys), topic ?? defaultTopic)
    let file = keys[tokens.keyFileName]
    let server = try await PushServer.startAPNs(
      port: port, keys: keys, tokens: tokens, topics: [topic], channels: channels, keepsRequests: false, respond: answerOfApple,
      watch: watch)
    return PushOrigin(
      server: server, key: "\(file) (key id \(tokens.keyID), team id \(tokens.teamID))",
      flags: "--apns-key \(file) --apns-key-id \(tokens.keyID) --apns-team-id \(tokens.teamID) --apns-topic \(topic)",
      temporary: temporary)
  }

  /// Starts Google's push service, and makes the key of a service account if the folder has none.
  ///
  /// - Parameter kept: a folder that keeps the files; nil uses a temporary one.
  static func startFCM(port: Int, keptIn kept: String?, watch: PushServer.Watch?) async throws -> PushOrigin {
    let (keys, temporary) = try folders(kept)
    let (account, file) = (try GoogleAccount(keptIn: keys), "service-account.json")
    let server = try await PushServer.startFCM(
      account: account, port: port, keys: keys, keepsRequests: false, respond: answerOfGoogle, watch: watch)
    do {
      // It contains the port.
      try keys.writeSecret(account.keyFile(tokenURI: server.tokenURI), to: file, replacing: account.isKeyFile)
    } catch {
      await server.stop()
      throw error
    }
    return PushOrigin(
      server: server, key: "\(keys[file]) (project \(account.projectID))", flags: "--fcm-service-account \(keys[file])",
      temporary: temporary)
  }

  private static func folders(_ kept: String?) throws -> (keys: KeyFolder, temporary: StageFolder?) {
    if let kept { return (try KeyFolder(kept), nil) }
    let temporary = try StageFolder()
    return (try KeyFolder(temporary.path), temporary)
  }

  /// Stops the server and removes the files, unless they are kept.
  func stop() async {
    await server.stop()
    temporary?.remove()
  }

  private static func answerOfApple(to request: PushServerRequest) -> PushServerAnswer {
    guard let (status, reason) = reasons.first(where: { request.deviceToken.hasPrefix("\($0.status)") }) else { return .delivered }
    return .error(status, reason, timestamp: status == 410 ? Int64(time(nil)) * 1_000 : nil)
  }

  private static func answerOfGoogle(to request: PushServerRequest) -> PushServerAnswer {
    errorCodes.first { request.deviceToken.hasPrefix($0.code) }.map { .error($0.status, $0.code) } ?? .delivered
  }
}
