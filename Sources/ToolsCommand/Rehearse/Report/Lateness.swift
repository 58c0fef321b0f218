internal import Attache
internal import AttacheTesting

/// How late the lines of all scenarios were. Negative values are early.
struct Lateness: Sendable, Hashable {
  /// The number of lines that were later than the bucket before and no later than this one.
  struct Bucket: Sendable, Hashable {
    /// nil for the bucket without an upper bound.
    var upTo: Duration?
    var count: Int
  }

  /// In ascending order.
  private let sorted: [Duration]

  init(_ results: [ScenarioResult]) {
    sorted = results.flatMap(\.payloads).compactMap(\.lateness).sorted()
  }

  var count: Int { sorted.count }
  var largest: Duration? { sorted.last }

  /// Returns the lateness that the given percentage of lines does not exceed (nearest rank); nil
  /// when there is no line.
  func percentile(_ percent: Int) -> Duration? {
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }

  private static let bounds: [Duration] = [
    .seconds(-10), .seconds(-2), .seconds(-1), .milliseconds(-500), .milliseconds(-200), .milliseconds(-100), .milliseconds(-50),
    .milliseconds(-20), .zero, .milliseconds(20), .milliseconds(100), .milliseconds(250), .seconds(1),
  ]

  /// The buckets from the first to the last one that contains a line.
  var buckets: [Bucket] {
    var rest = sorted[...]
    let all = (Self.bounds.map(Optional.some) + [nil]).map { bound in
      let inside = rest.prefix { duration in bound.map { duration <= $0 } ?? true }
      rest = rest.dropFirst(inside.count)
      return Bucket(upTo: bound, count: inside.count)
    }
    guard let first = all.firstIndex(where: { $0.count > 0 }), let last = all.lastIndex(where: { $0.count > 0 }) else { return [] }
    return Array(all[first...last])
  }
}
