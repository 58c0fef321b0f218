/// Why a line passes unchanged without becoming a candidate. The reader's thread decides this. The
/// value takes one byte per line.
enum PassingLine: UInt8, CaseIterable, Sendable {
  /// There is nothing to attach.
  case nothing
  /// The line already has the output member.
  case enriched
  /// The line is longer than the maximum and was not parsed.
  case overlong
  /// The line is not a JSON object.
  case invalid
  /// The line is a candidate that was read when no further one may start.
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
