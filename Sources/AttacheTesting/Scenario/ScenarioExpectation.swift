public import Attache

/// What must come of a scenario; what is nil or empty is not checked.
public struct ScenarioExpectation: Sendable, Hashable {
  /// What must become of one payload.
  public struct OfPayload: Sendable, Hashable {
    public var outcome: Outcome?
    /// A fallback's reason; with an outcome that is said, no reason is a reason too: there must be
    /// none.
    public var reason: Reason?
    /// The attachments in their order; nil is not checked.
    public var attachments: [OfAttachment]?
    /// The reason of each media reference in its order, nil for one that was attached; nil is not
    /// checked.
    public var media: [Reason?]?

    public init(
      outcome: Outcome? = nil, reason: Reason? = nil, attachments: [OfAttachment]? = nil, media: [Reason?]? = nil
    ) {
      self.outcome = outcome
      self.reason = reason
      self.attachments = attachments
      self.media = media
    }
  }

  public struct OfAttachment: Sendable, Hashable {
    /// The uniform type identifier, such as `public.jpeg`.
    public var type: String
    /// Bytes; nil is not checked.
    public var size: Int?

    public init(type: String, size: Int? = nil) {
      self.type = type
      self.size = size
    }
  }

  /// One for each line of input; a single one stands for all.
  public var payloads: [OfPayload] = []
  /// How many requests reach each path, by `PATH`, or `NAME/PATH` for an entry of `origins`.
  public var requests: [String: Int] = [:]
  /// The names of all fields that a request may have, in lower case; nil is not checked.
  public var fields: [String]?
  /// How many connections are made to all origins together; in a network of its own, how many are
  /// tried, to whatever address. attache has one fetcher then, unless the flags say otherwise.
  public var connections: Int?
  /// How many names the name server is asked for.
  public var names: Int?
  /// No line is later than this after its deadline.
  public var lateness = Duration.zero
  /// The filter's largest resident set, in bytes.
  public var memory: Int?
  /// The most descriptors that the filter has open at a time.
  public var descriptors: Int?
  /// The exit status of the tool.
  public var exitStatus: Int32 = 0

  public init() {}
}
