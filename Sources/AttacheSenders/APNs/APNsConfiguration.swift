public import Attache
public import AttacheQueue

/// How payloads are sent to Apple.
public struct APNsConfiguration: Sendable {
  /// How long the server is waited for.
  public struct Patience: Sendable {
    /// For a connection, its handshake and the server's settings.
    public var connecting = Duration.seconds(10)
    /// How long a server may say nothing while requests are open, before it is asked for a sign of
    /// life (PING).
    public var silence = Duration.seconds(10)
    /// How long it may take over that sign; then the connection is dropped.
    public var sign = Duration.seconds(10)
    /// How long a request may stay unanswered on a connection that is alive.
    public var answer = Duration.seconds(30)
    /// The pause before the second attempt to connect; each further one is twice as long.
    public var firstPause = Duration.milliseconds(100)
    public var longestPause = Duration.seconds(30)
    /// How long a request may wait for a server that cannot be reached.
    public var unreachable = Duration.seconds(30)

    public init() {}
  }

  /// Who sends.
  public enum Credentials: Sendable {
    /// A signing key, of which each request carries a token.
    case key(ProviderKey)
    /// The path of a file (PEM) with a client certificate and its private key.
    case certificate(String)
  }

  public var endpoint: APNsEndpoint
  public var credentials: Credentials
  /// A file of root certificates (PEM); nil for the system's.
  public var rootCertificates: String?
  /// The topic of payloads whose envelope names none.
  public var topic: String?
  /// The push type of payloads whose envelope names none; nil derives it from the payload.
  public var pushType: String?
  /// The device token of every payload; nil reads it from each line.
  public var deviceToken: String?
  /// Where the device token stands in a line.
  public var tokenPath: JSONPointer?
  /// Where the payload stands in a line; nil is the whole line, or where the envelope of a push
  /// service has it.
  public var payloadPath: JSONPointer?
  /// The member that an attached payload has gained.
  public var outputKey = "attache"
  /// What tells the queue's payloads from those of any other queue: part of each `apns-id`.
  public var queueName = ""
  /// The file that takes the device tokens that Apple says are invalid.
  public var invalidTokens: String?
  /// Connections at most; a further one is made only while those that there are have no free
  /// stream.
  public var connections = 1
  public var patience = Patience()
  public var clock: any QueueClock = SystemQueueClock()

  public init(endpoint: APNsEndpoint = .production, credentials: Credentials) {
    (self.endpoint, self.credentials) = (endpoint, credentials)
  }
}

/// Why nothing can be sent as configured.
public struct APNsSetupError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence for the user.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
