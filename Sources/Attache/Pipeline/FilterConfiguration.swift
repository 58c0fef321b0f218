/// The settings of a filter.
public struct FilterConfiguration: Sendable {
  /// The time budget of a payload, from the moment it enters the window.
  public var deadline: Duration = .seconds(30)
  /// The maximum number of undecided payloads. Reading pauses when it is reached.
  public var jobs = 256
  /// The maximum number of decided bytes that wait for an earlier line. Reading pauses when it is
  /// exceeded.
  public var windowBytes = 8_000_000
  /// Whether lines are written in input order.
  public var isOrdered = true
  /// The name of the member that is added to an attached payload.
  public var outputKey = "attache"
  /// The place of the payload in the line; nil means the whole line, or the place that a push
  /// service's envelope defines.
  public var payloadPath: JSONPointer?
  /// The dialects that look for media.
  public var dialects = DialectTable()
  /// Whether to change an attached payload's alert texts as the vendor's own helper would.
  public var appliesOverrides = false
  /// The public base URL of the store; nil writes file URLs.
  public var baseURL: String?
  /// How an attached payload names its attachments. ``AttachmentForm/url`` and
  /// ``AttachmentForm/both`` need ``baseURL``; without it they act like
  /// ``AttachmentForm/member``.
  public var attachAs = AttachmentForm.member
  /// The maximum size of an enriched payload. A payload that would exceed it stays as it is.
  public var maximumPayload = PayloadMaximum.automatic
  /// Whether to cut the alert's body of an enriched payload that would exceed ``maximumPayload``, so
  /// that it fits. The body ends with an ellipsis, at a boundary of grapheme clusters. A payload
  /// that would still be too large, or has no body, stays as it is.
  public var fitsPayload = false
  /// The path of the file for outcome records, which is truncated at the start; nil for no
  /// report.
  public var report: String?
  /// The place in each line whose value its record repeats; nil for none.
  public var reportKey: JSONPointer?
  /// How much of a URL the report and the explanations show.
  public var urlDetail = URLDetail.short

  /// Creates a configuration with the default values.
  public init() {}

  /// How an attached payload names its attachments.
  public enum AttachmentForm: String, CaseIterable, Sendable {
    /// In an added member. The media's own URLs stay.
    case member
    /// By their public addresses, which replace the media's URLs. No member is added.
    case url
    /// In both ways.
    case both
  }
}
