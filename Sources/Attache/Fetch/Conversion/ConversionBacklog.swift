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

  private let converters: Int
  /// The payloads that are not decided.
  private var undecided: Set<UInt64> = []
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
    undecided.insert(payload)
  }

  /// Records that a payload needs a conversion, or with a negative time, that it has ended. Ignores a
  /// payload that is decided.
  mutating func note(_ time: Duration, of payload: UInt64) {
    let seconds = time.seconds
    guard undecided.contains(payload), var work = converting[payload] ?? (seconds > 0 ? Payload() : nil) else { return }
    if seconds > 0 {
      // Not when it is decided: payloads without conversions are decided sooner.
      if work.turn == 0 {
        learn(1)
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
    guard undecided.remove(payload) != nil else { return }
    if converting.removeValue(forKey: payload) == nil { learn(0) }
  }

  private mutating func learn(_ conversions: Double) {
    known = min(known + 1, Self.memory)
    likelihood += (conversions - likelihood) / known
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
