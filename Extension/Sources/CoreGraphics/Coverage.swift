import Groundwork

/// How much of each pixel is covered, from 0 to 1.
struct Coverage {
  let (width, height): (Int, Int)
  var values: [Float]

  /// The lines of each row of pixels at which a path is looked at.
  private static let lines = 8

  /// The coverage of the inside of polygons.
  ///
  /// - Parameters:
  ///   - polygons: in pixels. Each is closed.
  ///   - isEvenOdd: whether what an even number of polygons surrounds is outside.
  init(_ polygons: [[CGPoint]], isEvenOdd: Bool, width: Int, height: Int) {
    (self.width, self.height, values) = (width, height, [Float](repeating: 0, count: width * height))
    let edges = polygons.flatMap { points in
      zip(points, points.dropFirst() + points.prefix(1)).filter { $0.y != $1.y && [$0.x, $0.y, $1.x, $1.y].allSatisfy(\.isFinite) }
    }
    for line in 0..<height * Self.lines {
      let y = (Double(line) + 0.5) / Double(Self.lines)
      let crossings = edges.compactMap { edge -> (x: Double, direction: Int)? in
        let (top, bottom) = (min(edge.0.y, edge.1.y), max(edge.0.y, edge.1.y))
        guard top <= y, y < bottom else { return nil }
        let x = edge.0.x + (y - edge.0.y) / (edge.1.y - edge.0.y) * (edge.1.x - edge.0.x)
        return (Double(x), edge.0.y < edge.1.y ? 1 : -1)
      }.sorted { $0.x < $1.x }
      var winding = 0
      for (crossing, next) in zip(crossings, crossings.dropFirst()) {
        winding += crossing.direction
        if isEvenOdd ? winding % 2 != 0 : winding != 0 { add(from: crossing.x, to: next.x, row: line / Self.lines) }
      }
    }
  }

  private mutating func add(from start: Double, to end: Double, row: Int) {
    let (start, end) = (min(max(start, 0), Double(width)), min(max(end, 0), Double(width)))
    guard start < end else { return }
    for x in Int(start)..<min(width, Int(end.rounded(.up))) {
      let part = min(end, Double(x) + 1) - max(start, Double(x))
      values[row * width + x] += Float(part) / Float(Self.lines)
    }
  }

  /// Keeps what both cover.
  mutating func intersect(_ other: Coverage) {
    for index in values.indices { values[index] *= other.values[index] }
  }
}
