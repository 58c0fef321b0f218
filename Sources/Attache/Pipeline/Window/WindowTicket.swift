/// The place of a line with candidates in the window: what the decision is given back with.
struct WindowTicket: Sendable {
  let number: UInt64
  /// The number of the line, counted from 1.
  let line: Int
  /// The line with its ending, in memory of its own, with the reader's padding behind it.
  let bytes: Segment
  /// How many payloads of the line are decided.
  var jobs = 1
  /// When it took its place: the start of its clock.
  let placed: MonotonicInstant
  /// When its line has to be handed to `write`.
  let deadline: MonotonicInstant
}
