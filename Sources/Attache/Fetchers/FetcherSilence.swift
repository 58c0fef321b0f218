/// Measures how long a fetcher has not replied, as far as its host can judge. A pure value: its
/// owner calls `look(at:)` every ``interval`` and records each reply.
struct FetcherSilence {
  /// The result of a look.
  enum Verdict: Equatable {
    /// The last question was answered: ask again.
    case ask
    /// The last question is not answered yet.
    case wait
    /// The fetcher must be ended.
    case end
  }

  /// The time between two looks.
  static let interval = Duration.seconds(2)
  /// How long a fetcher may be silent before it is ended. A disk may stall for some seconds.
  static let timeLimit = Duration.seconds(10)

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
    // If the host was stopped or its machine slept, the silence is not counted.
    silence = passed < Self.interval * 2 ? silence + passed : .zero
    guard silence >= Self.timeLimit else { return .wait }
    (isAnswered, silence) = (true, .zero)
    return .end
  }
}
