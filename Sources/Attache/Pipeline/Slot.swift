/// A candidate's place in the window: what the decision is given back with.
struct Slot: Sendable {
  let number: UInt64
  /// The number of the line, counted from 1.
  let line: Int
  /// The line with its ending, in memory of its own, with the reader's padding behind it.
  let bytes: Segment
  /// When it took its place: the start of its clock.
  let placed: MonotonicInstant
  /// When its line has to be handed to `write`.
  let deadline: MonotonicInstant
}
