/// What the reader made of one line.
package enum Reading: Hashable, Sendable {
  /// The line is no JSON object.
  case invalid(Reason)
  /// There is nothing to attach: no candidate (no reason), or a line that brings the output member
  /// itself.
  case passthrough(PushKind, Reason?)
  /// An envelope of a push service that stays shut: there is nothing that could be attached.
  case unopened(UnopenedEnvelope)
  /// The payloads of the line that a service extension is woken for, with or without media: one, or
  /// several notifications of a request.
  case candidates([Payload])
}
