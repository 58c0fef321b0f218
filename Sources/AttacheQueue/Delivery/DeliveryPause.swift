internal import Attache

/// The pauses of a deliverer while its sender or this machine fails. Each is longer than the one before.
struct DeliveryPause: Sendable {
  /// Why no results are sent, and until when. It remains after that until ``end()``.
  private(set) var current: (why: String, until: MonotonicInstant)?
  /// Whether the machine caused the pause. Answers of a sender do not end such a pause.
  private(set) var isOfMachine = false
  private var growing: GrowingPause

  init(first: Duration) {
    growing = GrowingPause(first: first, longest: DelivererConfiguration.longestPause)
  }

  func isOn(at now: MonotonicInstant) -> Bool { current.map { now < $0.until } ?? false }

  mutating func begin(_ why: String, isOfMachine: Bool, at now: MonotonicInstant) {
    // Several refusals at the same time count once, and none replaces the machine's pause.
    if isOn(at: now), self.isOfMachine || !isOfMachine { return }
    self.isOfMachine = isOfMachine
    current = (why, now.advanced(by: growing.next()))
  }

  mutating func end() {
    (current, isOfMachine) = (nil, false)
    growing.reset()
  }
}
