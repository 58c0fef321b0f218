/// Why a line leaves as it came without ever being a candidate: decided by the reader's thread, so
/// small that a line costs one byte.
enum PassingLine: UInt8, CaseIterable, Sendable {
  /// There is nothing to attach.
  case nothing
  /// The line brings the output member itself.
  case enriched
  /// The line is longer than the maximum and was not looked at.
  case overlong
  /// The line is no JSON object.
  case invalid
  /// A candidate that was read when no further one was to be started.
  case cancelled

  var outcome: Outcome {
    switch self {
    case .nothing, .enriched, .overlong: .passthrough
    case .invalid: .invalid
    case .cancelled: .fallback
    }
  }

  var reason: Reason? {
    switch self {
    case .nothing: nil
    case .enriched: .payloadEnriched
    case .overlong: .payloadSize
    case .invalid: .payloadJSON
    case .cancelled: .cancelled
    }
  }
}
