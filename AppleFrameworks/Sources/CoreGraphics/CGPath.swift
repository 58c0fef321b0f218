import Groundwork

/// A path, whose curves are polygons of short sides.
public class CGPath: @unchecked Sendable {
  /// The parts of the path. The last point of a closed part is its first one.
  package fileprivate(set) var parts: [[CGPoint]] = []

  fileprivate init(parts: [[CGPoint]]) {
    self.parts = parts
  }

  public convenience init(rect: CGRect) {
    let mutable = CGMutablePath()
    mutable.addRect(rect)
    self.init(parts: mutable.parts)
  }

  public convenience init(ellipseIn rect: CGRect) {
    let mutable = CGMutablePath()
    mutable.addEllipse(in: rect)
    self.init(parts: mutable.parts)
  }

  public convenience init(roundedRect rect: CGRect, cornerWidth: CGFloat, cornerHeight: CGFloat) {
    let mutable = CGMutablePath()
    mutable.addRoundedRect(in: rect, cornerWidth: cornerWidth, cornerHeight: cornerHeight)
    self.init(parts: mutable.parts)
  }

  /// The smallest rectangle around all points.
  public var boundingBox: CGRect {
    let points = parts.joined()
    guard let first = points.first else { return .null }
    return points.reduce(CGRect(origin: first, size: .zero)) { $0.union(CGRect(origin: $1, size: .zero)) }
  }

  public var isEmpty: Bool { parts.isEmpty }
}

public final class CGMutablePath: CGPath, @unchecked Sendable {
  /// The sides that a curve becomes.
  private static let sides = 48

  public init() {
    super.init(parts: [])
  }

  public var currentPoint: CGPoint { parts.last?.last ?? .zero }

  public func move(to point: CGPoint) {
    parts.append([point])
  }

  public func addLine(to point: CGPoint) {
    if parts.isEmpty { return move(to: point) }
    parts[parts.count - 1].append(point)
  }

  public func addCurve(to end: CGPoint, control1: CGPoint, control2: CGPoint) {
    let start = currentPoint
    for step in 1...Self.sides {
      let t = Double(step) / Double(Self.sides)
      let (a, b, c, d) = ((1 - t) * (1 - t) * (1 - t), 3 * t * (1 - t) * (1 - t), 3 * t * t * (1 - t), t * t * t)
      addLine(
        to: CGPoint(
          x: a * start.x + b * control1.x + c * control2.x + d * end.x, y: a * start.y + b * control1.y + c * control2.y + d * end.y))
    }
  }

  public func addQuadCurve(to end: CGPoint, control: CGPoint) {
    let start = currentPoint
    func between(_ point: CGPoint) -> CGPoint {
      CGPoint(x: point.x + (control.x - point.x) * 2 / 3, y: point.y + (control.y - point.y) * 2 / 3)
    }
    addCurve(to: end, control1: between(start), control2: between(end))
  }

  /// Adds an arc of an ellipse, and the line that leads to it.
  private func addArc(_ center: CGPoint, _ radii: CGSize, from start: Double, to end: Double) {
    for step in 0...Self.sides {
      let angle = start + (end - start) * Double(step) / Double(Self.sides)
      addLine(to: CGPoint(x: center.x + radii.width * CGFloat(cos(angle)), y: center.y + radii.height * CGFloat(sin(angle))))
    }
  }

  /// Adds an arc of a circle, and the line that leads to it.
  ///
  /// - Parameter clockwise: as seen where y grows upwards.
  public func addArc(center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool) {
    let turn = 2 * Double.pi
    var sweep = Double(endAngle) - Double(startAngle)
    guard sweep.isFinite else { return }
    if clockwise, sweep > 0 { sweep -= turn * (sweep / turn).rounded(.up) }
    if !clockwise, sweep < 0 { sweep += turn * (-sweep / turn).rounded(.up) }
    addArc(center, CGSize(width: radius, height: radius), from: Double(startAngle), to: Double(startAngle) + sweep)
  }

  public func closeSubpath() {
    guard let first = parts.last?.first else { return }
    addLine(to: first)
  }

  public func addRect(_ rect: CGRect) {
    move(to: CGPoint(x: rect.minX, y: rect.minY))
    for (x, y) in [(rect.maxX, rect.minY), (rect.maxX, rect.maxY), (rect.minX, rect.maxY)] { addLine(to: CGPoint(x: x, y: y)) }
    closeSubpath()
  }

  public func addEllipse(in rect: CGRect) {
    addRoundedRect(in: rect, cornerWidth: rect.width / 2, cornerHeight: rect.height / 2)
  }

  /// - Parameters:
  ///   - cornerWidth: at most half of the width is used.
  ///   - cornerHeight: at most half of the height is used.
  public func addRoundedRect(in rect: CGRect, cornerWidth: CGFloat, cornerHeight: CGFloat) {
    addRoundedRect(in: rect, CGSize(width: cornerWidth, height: cornerHeight), corners: [true, true, true, true])
  }

  /// - Parameter corners: whether each corner is round: the one of the smallest x and y, then on along the edge to the greatest x.
  package func addRoundedRect(in rect: CGRect, _ radii: CGSize, corners: [Bool]) {
    let rect = rect.standardized
    let size = CGSize(width: min(max(radii.width, 0), rect.width / 2), height: min(max(radii.height, 0), rect.height / 2))
    let points = [(rect.minX, rect.minY, 2), (rect.maxX, rect.minY, 3), (rect.maxX, rect.maxY, 0), (rect.minX, rect.maxY, 1)]
    parts.append([])
    for ((x, y, quarter), isRound) in zip(points, corners) {
      let radii = isRound ? size : .zero
      let center = CGPoint(x: x == rect.minX ? x + radii.width : x - radii.width, y: y == rect.minY ? y + radii.height : y - radii.height)
      addArc(center, radii, from: Double(quarter) * .pi / 2, to: Double(quarter + 1) * .pi / 2)
    }
    closeSubpath()
  }

  public func addPath(_ path: CGPath) {
    parts += path.parts
  }
}
