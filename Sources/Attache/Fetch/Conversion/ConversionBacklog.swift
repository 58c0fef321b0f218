/// How much work the converters of a run have, and how many undecided payloads they permit. A pure
/// value.
///
/// Nobody knows before a fetch whether its file must be converted. So payloads whose media are still
/// fetched count with the work that payloads of this run had on average. Before any is known, each
/// counts as if it needed a conversion.
struct ConversionBacklog {
  private struct Payload {
    /// The expected time of all its conversions, and of those that have not ended.
    var all = 0.0
    var left = 0.0
  }

  /// The part of the deadline that waiting conversions may take. The rest is for the download, and
  /// for what was estimated wrongly.
  static let share = 0.5
  /// The expected time of a payload's conversions before the first is known, in seconds: a photo of
  /// 8 million pixels.
  private static let assumedWork = 0.25
  /// A payload counts at most as this many typical ones, so that a stranger's payload with many
  /// large pictures does not stop the reader.
  private static let maximumRatio = 4.0
  /// The number of payloads over which averages are taken.
  private static let memory = 64.0
  /// More payloads than can be undecided.
  private static let unlimited = 1 << 32

  private let converters: Int
  /// The payloads with conversions.
  private var converting: [UInt64: Payload] = [:]
  /// The share of payloads with conversions, and the typical time of their conversions in seconds.
  private var likelihood = 1.0
  private var typical = assumedWork
  private var (ended, convertedEnded) = (1.0, 1.0)

  /// - Parameter converters: the number of pictures that are converted at the same time.
  init(converters: Int) {
    self.converters = converters
  }

  /// Records that a payload needs a conversion, or with a negative time, that it has ended.
  mutating func note(_ time: Duration, of payload: UInt64) {
    let seconds = time.seconds
    if seconds > 0 {
      converting[payload, default: Payload()].all += seconds
      converting[payload]?.left += seconds
    } else if var known = converting[payload] {
      known.left = max(0, known.left + seconds)
      converting[payload] = known
    }
  }

  /// Records that a payload is decided.
  mutating func end(_ payload: UInt64) {
    let known = converting.removeValue(forKey: payload)
    ended = min(ended + 1, Self.memory)
    likelihood += ((known == nil ? 0 : 1) - likelihood) / ended
    guard let known else { return }
    convertedEnded = min(convertedEnded + 1, Self.memory)
    typical += (min(known.all, Self.maximumRatio * typical) - typical) / convertedEnded
  }

  /// Returns the number of payloads that may be undecided at the same time.
  ///
  /// - Parameter deadline: the time that each has, from its start to its decision.
  func places(within deadline: Duration) -> Int {
    let room = Self.share * deadline.seconds * Double(converters)
    let known = converting.values.reduce(0) { $0 + min($1.left, Self.maximumRatio * typical) }
    let others = (room - known) / (likelihood * typical)
    let count = others < Double(Self.unlimited) ? Int(max(0, others)) : Self.unlimited
    return max(1, converting.count + count)
  }
}
