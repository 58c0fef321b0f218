import Groundwork

/// A context that draws to pixels.
public final class CGContext: @unchecked Sendable {
  private struct State {
    var fill = CGColor(gray: 0, alpha: 1)
    var stroke = CGColor(gray: 0, alpha: 1)
    var lineWidth: CGFloat = 1
    var alpha: CGFloat = 1
    var clip: Mask?
    /// A point (x, y) of the user is the pixel (x · scale + offset).
    var (scale, offset): (CGPoint, CGPoint)
  }

  private var pixels: Pixels
  private var state: State
  private var saved: [State] = []
  private var path = CGMutablePath()
  public var interpolationQuality = CGInterpolationQuality.default

  /// Creates a context whose y grows upwards.
  ///
  /// - Parameter data: must be nil: the context has memory of its own.
  /// - Returns: nil for another layout than 8 bits for a component of red, green, blue and alpha.
  public init?(
    data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int, space: CGColorSpace,
    bitmapInfo: UInt32
  ) {
    guard data == nil, bitsPerComponent == 8, let pixels = Pixels.blank(width, height) else { return nil }
    self.pixels = pixels
    state = State(scale: CGPoint(x: 1, y: -1), offset: CGPoint(x: 0, y: CGFloat(height)))
  }

  /// Creates a context whose y grows downwards, as UIKit has it.
  ///
  /// - Parameter scale: the pixels of a point.
  package init?(bounds: CGRect, scale: CGFloat) {
    let (width, height) = ((bounds.width * scale).rounded(.up), (bounds.height * scale).rounded(.up))
    guard width.isFinite, height.isFinite, max(abs(width), abs(height)) < 268_435_456,
      let pixels = Pixels.blank(Int(width), Int(height))
    else { return nil }
    self.pixels = pixels
    state = State(scale: CGPoint(x: scale, y: scale), offset: CGPoint(x: -bounds.minX * scale, y: -bounds.minY * scale))
  }

  public var width: Int { pixels.width }
  public var height: Int { pixels.height }

  /// Returns the picture as it is now. Its pixels are copied when more is drawn, and not before.
  public func makeImage() -> CGImage? {
    CGImage(pixels)
  }

  /// What is drawn to: pixels that no picture has.
  private var canvas: Canvas {
    if !isKnownUniquelyReferenced(&pixels) {
      guard let copy = pixels.copy() else { preconditionFailure("no memory for a picture") }
      pixels = copy
    }
    return Canvas(pixels: pixels)
  }

  public func saveGState() {
    saved.append(state)
  }

  public func restoreGState() {
    if let last = saved.popLast() { state = last }
  }

  public func translateBy(x: CGFloat, y: CGFloat) {
    state.offset = device(CGPoint(x: x, y: y))
  }

  public func scaleBy(x: CGFloat, y: CGFloat) {
    state.scale = CGPoint(x: state.scale.x * x, y: state.scale.y * y)
  }

  private func device(_ point: CGPoint) -> CGPoint {
    CGPoint(x: point.x * state.scale.x + state.offset.x, y: point.y * state.scale.y + state.offset.y)
  }

  public func setFillColor(_ color: CGColor) { state.fill = color }
  public func setStrokeColor(_ color: CGColor) { state.stroke = color }
  public func setLineWidth(_ width: CGFloat) { state.lineWidth = width }
  public func setAlpha(_ alpha: CGFloat) { state.alpha = min(max(alpha, 0), 1) }

  public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    setFillColor(CGColor(red: red, green: green, blue: blue, alpha: alpha))
  }

  public func beginPath() { path = CGMutablePath() }
  public func addPath(_ path: CGPath) { self.path.addPath(path) }
  public func addRect(_ rect: CGRect) { path.addRect(rect) }
  public func addEllipse(in rect: CGRect) { path.addEllipse(in: rect) }
  public func move(to point: CGPoint) { path.move(to: point) }
  public func addLine(to point: CGPoint) { path.addLine(to: point) }
  public func closePath() { path.closeSubpath() }

  public func fillPath() {
    fill(path, isEvenOdd: false)
    beginPath()
  }

  public func strokePath() {
    stroke(path, width: state.lineWidth)
    beginPath()
  }

  public func clip() {
    clip(path, isEvenOdd: false)
    beginPath()
  }

  public func clip(to rect: CGRect) { clip(CGPath(rect: rect), isEvenOdd: false) }
  public func fill(_ rect: CGRect) { fill(CGPath(rect: rect), isEvenOdd: false) }
  public func fillEllipse(in rect: CGRect) { fill(CGPath(ellipseIn: rect), isEvenOdd: false) }
  public func stroke(_ rect: CGRect) { stroke(CGPath(rect: rect), width: state.lineWidth) }
  public func strokeEllipse(in rect: CGRect) { stroke(CGPath(ellipseIn: rect), width: state.lineWidth) }

  /// Makes a rectangle transparent.
  public func clear(_ rect: CGRect) {
    canvas.fill(shape(CGPath(rect: rect).parts, isEvenOdd: false), .zero, state.clip, replaces: true)
  }

  /// Draws a picture. Its top is where y is greatest: in a context of UIKit, the picture is upside down.
  public func draw(_ image: CGImage, in rect: CGRect) {
    guard let pixels = image.pixels else { return }
    draw(PictureView(pixels).flipped(isMirrored: false, isUpsideDown: true), in: rect, alpha: 1)
  }

  private func shape(_ parts: [[CGPoint]], isEvenOdd: Bool) -> Shape {
    Shape(parts.map { $0.map(device) }, isEvenOdd: isEvenOdd)
  }

  private func colour(_ color: CGColor) -> SIMD4<Float> {
    var colour = SIMD4(color.parts.map { Float($0) })
    colour.w *= Float(state.alpha)
    return colour
  }

  package func fill(_ path: CGPath, isEvenOdd: Bool) {
    canvas.fill(shape(path.parts, isEvenOdd: isEvenOdd), colour(state.fill), state.clip)
  }

  package func clip(_ path: CGPath, isEvenOdd: Bool) {
    state.clip = Mask(shape(path.parts, isEvenOdd: isEvenOdd), width: width, height: height, within: state.clip)
  }

  package func stroke(_ path: CGPath, width: CGFloat) {
    let outlines = path.parts.flatMap { Stroke.outlines(of: $0, width: width) }
    canvas.fill(shape(outlines, isEvenOdd: false), colour(state.stroke), state.clip)
  }

  /// Draws a picture. Its top is where y is smallest.
  package func draw(_ picture: PictureView, in rect: CGRect, alpha: CGFloat) {
    let (first, second) = (device(CGPoint(x: rect.minX, y: rect.minY)), device(CGPoint(x: rect.maxX, y: rect.maxY)))
    let place = CGRect(x: first.x, y: first.y, width: second.x - first.x, height: second.y - first.y).standardized
    let seen = picture.flipped(isMirrored: state.scale.x < 0, isUpsideDown: state.scale.y < 0)
    canvas.draw(seen, in: place, state.clip, alpha: Float(state.alpha * alpha))
  }
}

/// The outlines of a line that has a width.
private enum Stroke {
  /// Returns a rectangle for each side, and a triangle or a kite for each corner, with the same direction.
  static func outlines(of points: [CGPoint], width: CGFloat) -> [[CGPoint]] {
    let radius = width / 2
    let sides = zip(points, points.dropFirst()).filter { $0 != $1 }.map { (start: $0, end: $1, across: across($0, $1, radius)) }
    guard let first = sides.first, let last = sides.last else { return [] }
    var outlines = sides.map { [$0.start + $0.across, $0.end + $0.across, $0.end - $0.across, $0.start - $0.across] }
    let corners = Array(zip(sides, sides.dropFirst())) + (first.start == last.end ? [(last, first)] : [])
    for (before, after) in corners { outlines += [1, -1].map { corner(after.start, before.across * $0, after.across * $0, radius) } }
    return outlines.map { area($0) < 0 ? $0.reversed() : $0 }
  }

  /// Returns the vector from the middle of a side to its edge.
  private static func across(_ start: CGPoint, _ end: CGPoint, _ radius: CGFloat) -> CGPoint {
    let length = hypot(end.x - start.x, end.y - start.y)
    return CGPoint(x: (start.y - end.y) / length * radius, y: (end.x - start.x) / length * radius)
  }

  /// Returns a corner with a point, or a blunt one if the point were longer than ten times the width.
  private static func corner(_ point: CGPoint, _ before: CGPoint, _ after: CGPoint, _ radius: CGFloat) -> [CGPoint] {
    let sum = before + after
    let square = sum.x * sum.x + sum.y * sum.y
    // The tip is at a distance of 2 r² / |sum|, which is a tenth of it at least.
    guard square > radius * radius * 0.04 else { return [point, point + before, point + after] }
    return [point, point + before, point + sum * (2 * radius * radius / square), point + after]
  }

  private static func area(_ points: [CGPoint]) -> CGFloat {
    zip(points, points.dropFirst() + points.prefix(1)).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }
  }
}

extension CGPoint {
  fileprivate static func + (left: CGPoint, right: CGPoint) -> CGPoint { CGPoint(x: left.x + right.x, y: left.y + right.y) }
  fileprivate static func - (left: CGPoint, right: CGPoint) -> CGPoint { CGPoint(x: left.x - right.x, y: left.y - right.y) }
  fileprivate static func * (left: CGPoint, right: CGFloat) -> CGPoint { CGPoint(x: left.x * right, y: left.y * right) }
}
