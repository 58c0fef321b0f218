public import Attache
public import AttacheQueue

/// The configuration of an ``APNsSender``.
public struct APNsConfiguration: Sendable {
  /// The limits on waiting for the server.
  public struct TimeLimits: Sendable {
    /// The time limit for a connection, its handshake and the server's settings.
    public var connecting = Duration.seconds(10)
    /// How long a server may send nothing while requests are open, before it is sent a PING.
    public var silence = Duration.seconds(10)
    /// How long the server may take to respond to the PING. Then the connection is dropped.
    public var sign = Duration.seconds(10)
    /// How long a request may stay unanswered on a working connection.
    public var answer = Duration.seconds(30)
    /// The pause before the second attempt to connect. Each further pause is twice as long.
    public var firstPause = Duration.milliseconds(100)
    /// The longest pause between attempts to connect.
    public var longestPause = Duration.seconds(30)
    /// How long a request may wait for a server that cannot be reached.
    public var unreachable = Duration.seconds(30)

    /// Creates the default limits.
    public init() {}
  }

  /// How the sender authenticates itself.
  public enum Credentials: Sendable {
    /// A signing key. Each request carries a token that it signs.
    case key(ProviderKey)
    /// The path of a PEM file with a client certificate and its private key.
    case certificate(String)
  }

  /// The server to send to.
  public var endpoint: PushEndpoint
  /// How the sender authenticates itself.
  public var credentials: Credentials
  /// The path of a PEM file of root certificates; nil uses the system's.
  public var rootCertificates: String?
  /// The topic of payloads whose envelope has none.
  public var topic: String?
  /// The push type of payloads whose envelope names none; nil derives it from the payload.
  public var pushType: String?
  /// The device token of every payload; nil reads it from each line.
  public var deviceToken: String?
  /// The place of the device token in a line; nil uses the envelope's token.
  public var tokenPath: JSONPointer?
  /// The place of a broadcast channel's identifier in a line. A line that has one there goes to all devices
  /// that follow the channel. With nil no line is a broadcast.
  public var channelPath: JSONPointer?
  /// The place of the payload in a line; nil is the whole line, or the place that a push service's
  /// envelope defines.
  public var payloadPath: JSONPointer?
  /// The member that attache adds to an attached payload.
  public var outputKey = "attache"
  /// A name that distinguishes the queue from any other: part of each `apns-id`.
  public var queueName = ""
  /// The path of the file for the device tokens that Apple calls invalid; nil writes none.
  public var invalidTokens: String?
  /// The maximum number of connections. A further one is opened only while the existing ones have
  /// no free stream.
  public var connections = 1
  /// The limits on waiting for the server.
  public var timeLimits = TimeLimits()
  /// The clock for the age of provider tokens.
  public var clock: any QueueClock = SystemQueueClock()

  /// Creates a configuration with default values.
  public init(endpoint: PushEndpoint = .production, credentials: Credentials) {
    (self.endpoint, self.credentials) = (endpoint, credentials)
  }
}
