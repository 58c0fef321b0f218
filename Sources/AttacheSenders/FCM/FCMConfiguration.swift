public import AttacheQueue

/// The configuration of an ``FCMSender``.
public struct FCMConfiguration: Sendable {
  /// The account that sends. Its project is the messages'.
  public var account: ServiceAccount
  /// The server to send to.
  public var endpoint = PushEndpoint.google
  /// The path of a PEM file of root certificates; nil uses the system's.
  public var rootCertificates: String?
  /// The member that attache adds to an attached payload.
  public var outputKey = "attache"
  /// The path of the file for the registration tokens that Google calls invalid; nil writes none.
  public var invalidTokens: String?
  /// The maximum time for an answer.
  public var answerTimeout = Duration.seconds(60)
  /// The clock for access tokens.
  public var clock: any QueueClock = SystemQueueClock()

  /// Creates a configuration with default values.
  public init(account: ServiceAccount) {
    self.account = account
  }
}
