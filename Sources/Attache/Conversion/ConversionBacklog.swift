/// How much work the converters of a run have, and how many undecided payloads they permit. A pure
/// value.
///
/// Nobody knows before a fetch whether its file must be converted. So payloads whose media are still
/// fetched count with the work that payloads of this run had on average. Before any is known, each
/// counts as if it needed a conversion.
///
/// The converters' queue gives payloads turns. So a payload with many or large pictures delays another
/// by one turn at a time. The queue knows what comes before a payload that begins now: that, and not
/// what all payloads ask for, is the work that the reader waits for.
struct ConversionBacklog {
  /// The part of the deadline that waiting conversions may take. The rest is for the download, and
  /// for what was estimated wrongly.
  static let share = 0.5
  /// The expected time of a payload's conversions before the first is known, in seconds: a large
  /// photo on a slow machine. Too much costs the first lines some time, too little their pictures.
  private static let assumedWork = ConverterPace.longestTurn.seconds
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
  /// Those of them with conversions, and the expected time of the longest turn of each.
  private var converting: [UInt64: Double] = [:]
  /// What each fetcher's converters do before a payload that begins now, in seconds.
  private var loads: [Int: Double] = [:]
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

  /// Records that a payload needs a conversion. Ignores a payload that is decided.
  ///
  /// - Parameter turn: the time that its picture counts (``ConverterPace/turn(_:of:)``).
  mutating func note(_ turn: Duration, of payload: UInt64) {
    guard let number = undecided[payload] else { return }
    // Not when it is decided: payloads without conversions are decided sooner.
    if converting[payload] == nil {
      learn(1, of: number)
      measured = min(measured + 1, Self.memory)
      typical -= typical / measured
    }
    // A payload with several conversions is one sample, the longest.
    let earlier = converting[payload] ?? 0
    let longest = max(earlier, min(turn.seconds, Self.assumedWork))
    typical += (longest - earlier) / measured
    converting[payload] = longest
  }

  /// Records the load of a fetcher's converters (``ConverterForecast/load``).
  ///
  /// - Returns: whether it is less than before.
  mutating func note(load: Duration, of fetcher: Int) -> Bool {
    let load = max(0, load.seconds)
    return load < loads.updateValue(load, forKey: fetcher) ?? 0
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

  /// How long a picture that comes now waits at most until its conversion begins: nobody knows yet
  /// which fetcher gets it.
  var wait: Duration { .seconds(loads.values.max() ?? 0) }

  /// Returns the number of payloads that may be undecided at the same time.
  ///
  /// - Parameter deadline: the time that each has, from its start to its decision.
  func places(within deadline: Duration) -> Int {
    let room = Self.share * deadline.seconds * Double(converters)
    // What comes before a new payload is one turn of each that needs a conversion, and what the converters
    // do. A fetcher that claims more is not believed.
    let work = min(loads.values.reduce(0, +), Double(converting.count + converters) * Self.assumedWork)
    let others = (room - work) / (likelihood * typical)
    let count = others < Double(Self.unlimited) ? Int(max(0, others)) : Self.unlimited
    return max(1, converting.count + count)
  }
}
