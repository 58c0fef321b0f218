/// Counts values by upper bound.
package struct Histogram: Sendable {
  /// Upper bounds, inclusive and ascending. Values above all of them are counted too.
  let bounds: [Double]
  private var counts: [Int]
  private(set) var sum = 0.0

  package init(_ bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  var count: Int { counts.reduce(0, +) }

  package mutating func observe(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  /// The number of values up to each bound, with infinity as the last bound.
  var cumulated: [(bound: Double, count: Int)] {
    var total = 0
    return zip(bounds + [.infinity], counts).map { bound, count in
      total += count
      return (bound, total)
    }
  }
}
