/// The result of reading one line.
package enum Reading: Hashable, Sendable {
  /// The line is not a JSON object.
  case invalid(Reason)
  /// There is nothing to attach: the line has no candidate, is too long, or already has the output
  /// member.
  case passthrough(PushKind, Reason, LineCause? = nil)
  /// A push service's envelope that cannot be opened, so nothing can be attached.
  case unopened(UnopenedEnvelope)
  /// The payloads of the line that wake a service extension, with or without media: one, or several
  /// notifications of a request.
  case candidates([Payload])
}
