/// The reservation of a line with candidates in the window, used to deliver its decision.
struct WindowTicket: Sendable {
  let number: UInt64
  /// The number of the line, counted from 1.
  let line: Int
  /// The line with its ending, in its own memory, followed by the reader's padding.
  let bytes: Segment
  /// The number of payloads in the line to decide.
  var jobs = 1
  /// How long the line waited for the reservation. Zero if there is no report.
  var waited = Duration.zero
  /// The time of the reservation, when its budget starts.
  let placed: MonotonicInstant
  /// The time by which its line must be passed to `write`.
  let deadline: MonotonicInstant
}
