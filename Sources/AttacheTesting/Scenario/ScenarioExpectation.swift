public import Attache

/// The expected result of a scenario. Values that are nil or empty are not checked.
public struct ScenarioExpectation: Sendable, Hashable {
  /// The expected result of one payload.
  public struct OfPayload: Sendable, Hashable {
    /// The outcome; nil is not checked.
    public var outcome: Outcome?
    /// The reason. If an outcome is given, nil means that there must be no reason, or any for
    /// `passthrough`.
    public var reason: Reason?
    /// The attachments in order; nil is not checked.
    public var attachments: [OfAttachment]?
    /// The reason of each media reference in order, nil for one that was attached; a nil list is
    /// not checked.
    public var media: [Reason?]?

    /// Creates an expectation of one payload.
    public init(
      outcome: Outcome? = nil, reason: Reason? = nil, attachments: [OfAttachment]? = nil, media: [Reason?]? = nil
    ) {
      self.outcome = outcome
      self.reason = reason
      self.attachments = attachments
      self.media = media
    }
  }

  /// An expected attachment.
  public struct OfAttachment: Sendable, Hashable {
    /// The uniform type identifier, such as `public.jpeg`.
    public var type: String
    /// The size in bytes; nil is not checked.
    public var size: Int?

    /// Creates an expected attachment.
    public init(type: String, size: Int? = nil) {
      self.type = type
      self.size = size
    }
  }

  /// One expectation per line of input; a single one applies to all lines.
  public var payloads: [OfPayload] = []
  /// The number of requests that reach each path, by `PATH`, or `NAME/PATH` for an entry of
  /// `origins`.
  public var requests: [String: Int] = [:]
  /// The names of all fields that a request can have, in lower case; nil is not checked.
  public var fields: [String]?
  /// The number of connections to all origins together; nil is not checked. In the scenario's own
  /// network, it is the number of connection attempts to any address. attache then has one fetcher,
  /// unless the flags set another number.
  public var connections: Int?
  /// The number of names that the name server is asked for; nil is not checked.
  public var names: Int?
  /// The maximum time that a line can be late after its deadline.
  public var lateness = Duration.zero
  /// The filter's maximum resident set, in bytes; nil is not checked.
  public var memory: Int?
  /// The maximum number of descriptors that the filter has open at the same time; nil is not
  /// checked.
  public var descriptors: Int?
  /// The exit status of the tool.
  public var exitStatus: Int32 = 0

  /// Creates an expectation that checks only lateness and the exit status.
  public init() {}
}
