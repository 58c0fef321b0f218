import Groundwork

/// The inside of polygons, in pixels.
struct Shape {
  private let edges: [(start: CGPoint, end: CGPoint)]
  private let isEvenOdd: Bool

  /// The lines of each row of pixels at which the polygons are looked at.
  private static let lines = 8

  /// - Parameters:
  ///   - polygons: each is closed.
  ///   - isEvenOdd: whether what an even number of polygons surrounds is outside.
  init(_ polygons: [[CGPoint]], isEvenOdd: Bool) {
    self.isEvenOdd = isEvenOdd
    edges = polygons.flatMap { points in
      zip(points, points.dropFirst() + points.prefix(1)).filter { $0.y != $1.y && [$0.x, $0.y, $1.x, $1.y].allSatisfy(\.isFinite) }
    }
  }

  /// Returns how much of each pixel of a row is inside, from 0 to 1.
  func row(_ y: Int, width: Int) -> [Float] {
    var values = [Float](repeating: 0, count: width)
    for line in 0..<Self.lines {
      let crossings = crossings(Double(y) + (Double(line) + 0.5) / Double(Self.lines))
      var winding = 0
      for (crossing, next) in zip(crossings, crossings.dropFirst()) {
        winding += crossing.direction
        if isEvenOdd ? winding % 2 != 0 : winding != 0 { Self.add(from: crossing.x, to: next.x, &values) }
      }
    }
    return values
  }

  /// Returns where the edges cross a line, from the left on.
  private func crossings(_ y: Double) -> [(x: Double, direction: Int)] {
    edges.compactMap { edge -> (x: Double, direction: Int)? in
      let (start, end) = (edge.start, edge.end)
      guard Double(min(start.y, end.y)) <= y, y < Double(max(start.y, end.y)) else { return nil }
      let x = Double(start.x) + (y - Double(start.y)) / Double(end.y - start.y) * Double(end.x - start.x)
      return (x, start.y < end.y ? 1 : -1)
    }.sorted { $0.x < $1.x }
  }

  private static func add(from start: Double, to end: Double, _ values: inout [Float]) {
    let (start, end) = (min(max(start, 0), Double(values.count)), min(max(end, 0), Double(values.count)))
    guard start < end else { return }
    for x in Int(start)..<min(values.count, Int(end.rounded(.up))) {
      let part = min(end, Double(x) + 1) - max(start, Double(x))
      values[x] = min(1, values[x] + Float(part) / Float(lines))
    }
  }
}

/// Where a context draws: a byte for each pixel, as on iOS.
struct Mask {
  let width: Int
  private var values: [UInt8]

  /// - Parameter mask: what also limits the drawing.
  init(_ shape: Shape, width: Int, height: Int, within mask: Mask?) {
    self.width = width
    values = []
    values.reserveCapacity(width * height)
    for y in 0..<height {
      for (x, part) in shape.row(y, width: width).enumerated() {
        values.append(UInt8((part * (mask?.part(x, y) ?? 1) * 255).rounded()))
      }
    }
  }

  /// Returns how much of a pixel is drawn, from 0 to 1.
  func part(_ x: Int, _ y: Int) -> Float {
    Float(values[y * width + x]) / 255
  }
}
