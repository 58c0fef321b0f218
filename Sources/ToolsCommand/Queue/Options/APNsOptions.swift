public import ArgumentParser
import Attache
import AttacheArguments
public import AttacheSenders
import Logging

/// The flags for sending payloads to Apple.
struct APNsOptions: ParsableArguments {
  @Flag(help: "Send to Apple's push service.")
  var apns = false

  @Option(
    help: ArgumentHelp(
      "The signing key of Apple's developer site (AuthKey_….p8); needs --apns-key-id and --apns-team-id.", valueName: "file"))
  var apnsKey: String?

  @Option(help: ArgumentHelp("The key's identifier, ten characters.", valueName: "id"))
  var apnsKeyId: String?

  @Option(help: ArgumentHelp("The developer team's identifier, ten characters.", valueName: "id"))
  var apnsTeamId: String?

  @Option(help: ArgumentHelp("A client certificate with its key (PEM), instead of a signing key.", valueName: "file"))
  var apnsCertificate: String?

  @Option(help: ArgumentHelp("The app's bundle identifier, for payloads whose envelope has no apns-topic.", valueName: "topic"))
  var apnsTopic: String?

  @Option(
    help: ArgumentHelp(
      "The apns-push-type of payloads whose envelope has none. (default: background for content-available alone, else alert; a Live Activity's and a management server's payload have their own)",
      valueName: "type"))
  var apnsPushType: String?

  @Option(
    help: ArgumentHelp(
      "Where the device token is in the line, such as /device/token. This member is not sent. (default: the token of the envelope)",
      valueName: "pointer"),
    transform: { try JSONPointer(path: $0) })
  var apnsTokenPath: JSONPointer?

  @Option(
    help: ArgumentHelp(
      "Where the identifier of a broadcast channel is in the line, such as /channel. Such a line updates a Live Activity on all devices that follow the channel. This member is not sent.",
      valueName: "pointer"),
    transform: { try JSONPointer(path: $0) })
  var apnsChannelPath: JSONPointer?

  @Option(help: PayloadOptions.pathHelp, transform: { try JSONPointer(path: $0) })
  var payloadPath: JSONPointer?

  @Flag(help: "Send to the sandbox, for apps that Xcode has installed.")
  var apnsSandbox = false

  @Option(
    help: ArgumentHelp(
      "Send to another server with Apple's protocol. The default port is 443.", valueName: "host[:port]"))
  var apnsHost: PushEndpoint?

  @Option(
    help: ArgumentHelp(
      "The limit for connections to the server. Each has as many streams as the server allows. (default: 1)", valueName: "n"))
  var apnsConnections: Int?

  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
  private static let pushTypes = PushType.allCases.map(\.rawValue)

  func validate() throws {
    guard Validation.isOn else { return }
    guard apns else {
      if let flag = given { throw ValidationError("\(flag) needs --apns.") }
      return
    }
    try CountArgument.check(apnsConnections ?? 1, "--apns-connections", in: 1...16)
    if let apnsPushType, !Self.pushTypes.contains(apnsPushType) {
      throw ValidationError("--apns-push-type must be one of \(Self.pushTypes.joined(separator: ", ")).")
    }
    if apnsSandbox, apnsHost != nil { throw ValidationError("--apns-sandbox and --apns-host name different servers; give one of them.") }
    switch (apnsKey, apnsCertificate) {
    case (nil, nil):
      throw ValidationError("--apns needs --apns-key with --apns-key-id and --apns-team-id, or --apns-certificate.")
    case (.some, .some): throw ValidationError("--apns-key and --apns-certificate cannot be combined; give one of them.")
    case (.some, nil):
      do { try ProviderKey.check(identifiers()) } catch let error as SenderSetupError { throw ValidationError("--apns-key: \(error).") }
    case (nil, .some):
      if apnsKeyId != nil || apnsTeamId != nil { throw ValidationError("--apns-key-id and --apns-team-id need --apns-key.") }
    }
  }

  /// A given flag that needs `--apns`; nil when there is none.
  private var given: String? {
    if apnsKey != nil { return "--apns-key" }
    if apnsKeyId != nil { return "--apns-key-id" }
    if apnsTeamId != nil { return "--apns-team-id" }
    if apnsCertificate != nil { return "--apns-certificate" }
    if apnsPushType != nil { return "--apns-push-type" }
    if apnsConnections != nil { return "--apns-connections" }
    if apnsTopic != nil { return "--apns-topic" }
    if apnsTokenPath != nil { return "--apns-token-path" }
    if apnsChannelPath != nil { return "--apns-channel-path" }
    if apnsSandbox { return "--apns-sandbox" }
    return apnsHost == nil ? nil : "--apns-host"
  }

  /// The server, if ``apns`` is set.
  var endpoint: PushEndpoint { apnsHost ?? (apnsSandbox ? .sandbox : .production) }

  private func identifiers() throws -> (keyID: String, teamID: String) {
    guard let apnsKeyId else { throw ValidationError("--apns-key needs --apns-key-id: the ten characters in AuthKey_….p8.") }
    guard let apnsTeamId else { throw ValidationError("--apns-key needs --apns-team-id: the ten characters of your membership at Apple.") }
    return (apnsKeyId, apnsTeamId)
  }

  private func provider(_ path: String) throws -> ProviderKey {
    let (keyID, teamID) = try identifiers()
    do throws(SenderSetupError) {
      return try ProviderKey(SigningKey(contentsOf: path), keyID: keyID, teamID: teamID)
    } catch {
      throw SenderSetupError("--apns-key \(path): \(error)")
    }
  }

  /// Returns the configuration that the flags describe, after they were validated. Reads the key.
  ///
  /// - Parameters:
  ///   - queueName: distinguishes the queue from any other; a part of each `apns-id`.
  ///   - push: the flags that it shares with FCM.
  ///   - roots: the trusted root certificates.
  /// - Throws: the exit status, after an unusable key is logged.
  func configuration(queueName: String, _ push: PushOptions, _ roots: RootOptions, _ log: Logger) throws -> APNsConfiguration {
    let credentials: APNsConfiguration.Credentials =
      if let apnsKey { .key(try orExit(log, ExitStatus.data) { try provider(apnsKey) }) } else { .certificate(apnsCertificate ?? "") }
    var configuration = APNsConfiguration(endpoint: endpoint, credentials: credentials)
    configuration.rootCertificates = roots.cacert
    (configuration.topic, configuration.pushType) = (apnsTopic, apnsPushType)
    (configuration.tokenPath, configuration.payloadPath) = (apnsTokenPath, payloadPath)
    configuration.channelPath = apnsChannelPath
    configuration.outputKey = push.outputKey
    configuration.queueName = queueName
    configuration.invalidTokens = push.invalidTokens
    configuration.connections = apnsConnections ?? 1
    return configuration
  }

  /// Creates the sender of `attache deliver`.
  ///
  /// - Parameter queueName: as for ``configuration(queueName:_:_:_:)``.
  /// - Returns: nil without `--apns`.
  /// - Throws: the exit status, after the problem is logged.
  func sender(queueName: String, _ push: PushOptions, _ roots: RootOptions, _ log: Logger) throws -> APNsSender? {
    guard apns else { return nil }
    let configuration = try configuration(queueName: queueName, push, roots, log)
    return try orExit(log, ExitStatus.data) { try APNsSender(configuration) }
  }
}

extension PushEndpoint: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }
}
