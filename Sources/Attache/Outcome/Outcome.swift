/// What became of one payload.
public enum Outcome: String, CaseIterable, Sendable {
  /// At least one attachment was added.
  case attached
  /// Media was asked for and not attached: the original went out, with a ``Reason``.
  case fallback
  /// There was nothing to do: the original went out.
  case passthrough
  /// The line is no JSON object: it went out as it came.
  case invalid
}
