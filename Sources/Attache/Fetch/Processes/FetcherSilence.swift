/// How long a fetcher has given no sign, as far as its host can judge. A pure value: its owner
/// looks every ``interval``, and notes each answer.
struct FetcherSilence {
  /// What a look says.
  enum Verdict: Equatable {
    /// The last question has been answered: ask again.
    case ask
    /// The last question is still open.
    case wait
    /// The fetcher is to be ended.
    case end
  }

  /// How often to look.
  static let interval = Duration.seconds(2)
  /// How long a fetcher may be silent before it is ended: a disk may stall for some seconds.
  static let patience = Duration.seconds(10)

  private var isAnswered = true
  private var silence = Duration.zero
  private var lastLook: MonotonicInstant

  init(since start: MonotonicInstant) {
    lastLook = start
  }

  mutating func noteAnswer() {
    isAnswered = true
  }

  mutating func look(at now: MonotonicInstant) -> Verdict {
    let passed = lastLook.duration(to: now)
    lastLook = now
    guard !isAnswered else {
      (isAnswered, silence) = (false, .zero)
      return .ask
    }
    // A host that was stopped, or whose machine slept, judges nobody.
    silence = passed < Self.interval * 2 ? silence + passed : .zero
    guard silence >= Self.patience else { return .wait }
    (isAnswered, silence) = (true, .zero)
    return .end
  }
}
