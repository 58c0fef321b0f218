internal import Attache
internal import AttacheTesting

/// How late the lines of all scenarios were; negative is early.
struct Lateness: Sendable, Hashable {
  /// How many lines were later than the bucket before, and no later than this one.
  struct Bucket: Sendable, Hashable {
    /// nil holds what is later than all others.
    var upTo: Duration?
    var count: Int
  }

  /// In order.
  private let sorted: [Duration]

  init(_ results: [ScenarioResult]) {
    sorted = results.flatMap(\.payloads).compactMap(\.lateness).sorted()
  }

  var count: Int { sorted.count }
  var largest: Duration? { sorted.last }

  /// The lateness that so many lines of a hundred do not exceed (nearest rank); nil when no line
  /// came.
  func percentile(_ percent: Int) -> Duration? {
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }

  private static let bounds: [Duration] = [
    .seconds(-10), .seconds(-2), .seconds(-1), .milliseconds(-500), .milliseconds(-200), .milliseconds(-100), .milliseconds(-50),
    .milliseconds(-20), .zero, .milliseconds(20), .milliseconds(100), .milliseconds(250), .seconds(1),
  ]

  /// From the first bucket that holds a line to the last.
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
