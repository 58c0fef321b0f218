/// How much work the converters of a run have, and how many undecided payloads they permit. A pure
/// value.
///
/// Nobody knows before a fetch whether its file must be converted. So payloads whose media are still
/// fetched count with the work that payloads of this run had on average. Before any is known, each
/// counts as if it needed a conversion.
///
/// The converters' queue gives payloads turns. So a payload with many or large pictures delays another
/// by one turn at a time, and counts as one: it does not stop the reader.
struct ConversionBacklog {
  private struct Payload {
    /// The expected time of its conversions that have not ended, and of its longest turn.
    var left = 0.0
    var turn = 0.0
  }

  /// The part of the deadline that waiting conversions may take. The rest is for the download, and
  /// for what was estimated wrongly.
  static let share = 0.5
  /// The expected time of a payload's conversions before the first is known, in seconds: a large
  /// photo on a slow machine. Too much costs the first lines some time, too little their pictures.
  /// No payload counts as more.
  private static let assumedWork = 1.0
  /// The number of payloads over which averages are taken.
  private static let memory = 64.0
  /// More payloads than can be undecided.
  private static let unlimited = 1 << 32

  /// The number of payloads after which one whose need is still unknown is left out of the averages.
  private static let longestWait = 1_024

  private let converters: Int
  /// The payloads that are not decided, with their number in the order of their beginnings.
  private var undecided: [UInt64: Int] = [:]
  /// Whether payloads needed a conversion (1 or 0), from the first whose need is not known yet. They
  /// are learned in this order: those that need none are known sooner, and would open the reader
  /// before the first picture is downloaded.
  private var needs = Ring<Double?>()
  /// The number of the first of ``needs``.
  private var firstNeed = 0
  /// Those of them with conversions.
  private var converting: [UInt64: Payload] = [:]
  /// The share of payloads with conversions, and the typical time of their conversions in seconds.
  private var likelihood = 1.0
  private var typical = assumedWork
  /// The numbers of payloads in these averages, the assumption included.
  private var (known, measured) = (1.0, 1.0)

  /// - Parameter converters: the number of pictures that are converted at the same time.
  init(converters: Int) {
    self.converters = converters
  }

  /// Records that a payload begins.
  mutating func begin(_ payload: UInt64) {
    undecided[payload] = firstNeed + needs.count
    needs.append(nil)
    guard needs.count > Self.longestWait else { return }
    _ = needs.popFirst()
    firstNeed += 1
    learnKnownNeeds()
  }

  /// Records that a payload needs a conversion, or with a negative time, that it has ended. Ignores a
  /// payload that is decided.
  mutating func note(_ time: Duration, of payload: UInt64) {
    let seconds = time.seconds
    guard let number = undecided[payload], var work = converting[payload] ?? (seconds > 0 ? Payload() : nil) else { return }
    if seconds > 0 {
      // Not when it is decided: payloads without conversions are decided sooner.
      if work.turn == 0 {
        learn(1, of: number)
        measured = min(measured + 1, Self.memory)
        typical -= typical / measured
      }
      // A payload with several conversions is one sample, the longest.
      let turn = max(work.turn, min(seconds, Self.assumedWork))
      typical += (turn - work.turn) / measured
      work.turn = turn
    }
    work.left = max(0, work.left + seconds)
    converting[payload] = work
  }

  /// Records that a payload is decided.
  mutating func end(_ payload: UInt64) {
    guard let number = undecided.removeValue(forKey: payload) else { return }
    if converting.removeValue(forKey: payload) == nil { learn(0, of: number) }
  }

  private mutating func learn(_ need: Double, of number: Int) {
    guard number >= firstNeed else { return }
    needs[number - firstNeed] = need
    learnKnownNeeds()
  }

  private mutating func learnKnownNeeds() {
    while needs.count > 0, let need = needs[0] {
      _ = needs.popFirst()
      firstNeed += 1
      known = min(known + 1, Self.memory)
      likelihood += (need - likelihood) / known
    }
  }

  /// Returns the number of payloads that may be undecided at the same time.
  ///
  /// - Parameter deadline: the time that each has, from its start to its decision.
  func places(within deadline: Duration) -> Int {
    let room = Self.share * deadline.seconds * Double(converters)
    let work = converting.values.reduce(0) { $0 + min($1.left, $1.turn) }
    let others = (room - work) / (likelihood * typical)
    let count = others < Double(Self.unlimited) ? Int(max(0, others)) : Self.unlimited
    return max(1, converting.count + count)
  }
}
