/// What the reader made of one line.
package enum Reading: Hashable, Sendable {
  /// The line is no JSON object.
  case invalid(Reason)
  /// There is nothing to attach: no candidate (no reason), or a line that brings the output member itself.
  case passthrough(PushKind, Reason?)
  /// A payload that a service extension is woken for, with or without media.
  case candidate(Payload)
}
