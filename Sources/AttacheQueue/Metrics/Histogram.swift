/// How often a quantity lay below which bound.
struct Histogram: Sendable {
  /// Upper bounds, inclusive and ascending; what exceeds all of them is counted too.
  let bounds: [Double]
  private var counts: [Int]
  private(set) var sum = 0.0

  init(_ bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  var count: Int { counts.reduce(0, +) }

  mutating func observe(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  /// For each bound, infinity last, how many values are not above it.
  var cumulated: [(bound: Double, count: Int)] {
    var total = 0
    return zip(bounds + [.infinity], counts).map { bound, count in
      total += count
      return (bound, total)
    }
  }
}
