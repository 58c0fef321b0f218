/// Decides whether a filter follows a reference, independent of its URL. This is the payload's
/// gate.
struct FollowPolicy {
  /// Why no service extension runs; nil if one runs.
  private let why: String?
  private let isEnriched: Bool
  private let outputKey: String
  private let maximum: Int
  private var followed = 0

  init(_ inspection: Inspection, outputKey: String, maximum: Int) {
    (why, isEnriched) = (inspection.why, inspection.isEnriched)
    (self.outputKey, self.maximum) = (outputKey, maximum)
  }

  /// Returns the answer for a reference. Call it for the references of one payload in their order.
  mutating func answer(to reference: MediaReference) -> GateAnswer {
    if let why { return .refuses(.payload, nil, "no service extension runs: \(why)") }
    if isEnriched { return .refuses(.payload, .payloadEnriched, "the line brings the member \(PrintableText.of(outputKey)) itself") }
    if reference.role == .avatar { return .refuses(.payload, nil, "it is the sender's picture, which is no attachment") }
    followed += 1
    if followed > maximum {
      return .refuses(.payload, .policyAttachments, "\(maximum) media are followed; --max-attachments would allow more")
    }
    guard let reason = reference.refusal else { return .passes(.payload, "the reference is followed") }
    let text =
      reference.isLazy
      ? "the payload wants it loaded when somebody looks"
      : "its identifier is a path, has more than \(MediaReference.longestIdentifier) bytes, or holds a control character or a mark that turns the text"
    return .refuses(.payload, reason, text)
  }
}
