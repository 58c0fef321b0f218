internal import Attache

/// Decides whether a filter follows a reference, independent of its URL. This is the payload's
/// gate.
struct FollowPolicy {
  /// Why no service extension runs; nil if one runs.
  private let why: String?
  private let isEnriched: Bool
  private let outputKey: String
  private let maximum: Int
  private let rewrites: Bool
  private let paths: LinePaths
  private var followed = 0

  init(_ inspection: Inspection, _ paths: LinePaths, outputKey: String, maximum: Int, rewrites: Bool) {
    (why, isEnriched, self.paths) = (inspection.why, inspection.isEnriched, paths)
    (self.outputKey, self.maximum, self.rewrites) = (outputKey, maximum, rewrites)
  }

  /// Returns the answer for a reference. Call it for the references of one payload in their order.
  mutating func answer(to reference: MediaReference) -> GateAnswer {
    if reference.isForOthers, !rewrites {
      return .refuses(.payload, nil, "only other devices than Apple's show it, and they read no member; --attach-as url replaces its URL")
    }
    if let why, !reference.isForOthers { return .refuses(.payload, nil, "no service extension runs: \(why)") }
    if isEnriched { return .refuses(.payload, .payloadEnriched, "the line already has the member \(PrintableText.of(outputKey))") }
    if reference.role == .avatar { return .refuses(.payload, nil, "it is the sender's picture, which is not an attachment") }
    followed += 1
    if followed > maximum {
      return .refuses(.payload, .policyAttachments, "attache follows \(maximum) media; --max-attachments allows more")
    }
    guard let reason = reference.refusal else { return .passes(.payload, "the reference is followed") }
    if let misfit = reference.misfit { return .refuses(.payload, reason, paths.sentence(of: misfit)) }
    let text =
      reference.isLazy
      ? "the payload asks to load it only when somebody looks at it"
      : "its identifier is a path, has more than \(MediaReference.longestIdentifier) bytes, or contains a control character or a mark that changes the text direction"
    return .refuses(.payload, reason, text)
  }
}
