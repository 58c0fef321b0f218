import Groundwork

/// Painting on pixels.
struct Canvas {
  let pixels: Pixels

  /// Paints a colour over a pixel.
  ///
  /// - Parameter colour: red, green, blue and alpha, from 0 to 1.
  private func paint(_ colour: SIMD4<Float>, at index: Int) {
    let pixel = pixels.bytes + index * 4
    let below = SIMD4(Float(pixel[0]), Float(pixel[1]), Float(pixel[2]), Float(pixel[3])) / 255
    let rest = below.w * (1 - colour.w)
    let alpha = colour.w + rest
    guard alpha > 0 else { return }
    var result = (colour * colour.w + below * rest) / alpha
    result.w = alpha
    store(result, at: index)
  }

  private func store(_ colour: SIMD4<Float>, at index: Int) {
    let bytes = SIMD4<UInt8>(clamping: SIMD4<Int32>((colour * 255).rounded(.toNearestOrAwayFromZero)))
    for part in 0..<4 { pixels.bytes[index * 4 + part] = bytes[part] }
  }

  /// Paints a colour inside a shape.
  ///
  /// - Parameter replaces: whether whole pixels become the colour, instead of lying below it.
  func fill(_ shape: Shape, _ colour: SIMD4<Float>, _ clip: Mask?, replaces: Bool = false) {
    for y in 0..<pixels.height {
      for (x, part) in shape.row(y, width: pixels.width).enumerated() {
        let part = part * (clip?.part(x, y) ?? 1)
        guard part > 0 else { continue }
        if replaces, part == 1 {
          store(colour, at: y * pixels.width + x)
        } else {
          paint(SIMD4(colour.x, colour.y, colour.z, colour.w * part), at: y * pixels.width + x)
        }
      }
    }
  }

  /// Draws a picture, scaled to a rectangle.
  ///
  /// - Parameters:
  ///   - rect: in pixels of this canvas.
  ///   - alpha: how opaque the picture is, from 0 to 1.
  func draw(_ picture: PictureView, in rect: CGRect, _ clip: Mask?, alpha: Float) {
    let (left, top, right, bottom) = (Double(rect.minX), Double(rect.minY), Double(rect.maxX), Double(rect.maxY))
    guard [left, top, right, bottom].allSatisfy(\.isFinite), left < right, top < bottom else { return }
    let columns = Int(min(max(left, 0), Double(pixels.width)))..<Int(min(max(right.rounded(.up), 0), Double(pixels.width)))
    let rows = Int(min(max(top, 0), Double(pixels.height)))..<Int(min(max(bottom.rounded(.up), 0), Double(pixels.height)))
    let horizontal = columns.map { Weights(pixel: $0, from: left, to: right, count: picture.width) }
    for y in rows {
      let vertical = Weights(pixel: y, from: top, to: bottom, count: picture.height)
      let row = picture.row(vertical)
      for (x, weights) in zip(columns, horizontal) {
        var sum = SIMD4<Float>()
        for (index, weight) in zip(weights.first..., weights.values) { sum += row[index] * weight }
        guard sum.w > 0 else { continue }
        let colour = sum / sum.w
        let part = weights.part * vertical.part * alpha * (clip?.part(x, y) ?? 1)
        paint(SIMD4(colour.x, colour.y, colour.z, sum.w * part), at: y * pixels.width + x)
      }
    }
  }
}

/// How much each of the neighbouring pixels of a line adds to one pixel of the scaled line: a triangle as wide as the scale.
private struct Weights {
  let first: Int
  let values: [Float]
  /// How much of the pixel lies within the line.
  let part: Float

  /// - Parameters:
  ///   - pixel: the pixel of the scaled line, which reaches from `start` to `end`.
  ///   - count: the pixels of the line.
  init(pixel: Int, from start: Double, to end: Double, count: Int) {
    let scale = Double(count) / (end - start)
    let (center, radius) = ((Double(pixel) + 0.5 - start) * scale - 0.5, max(1, scale))
    let last = Int(min(max((center + radius).rounded(.down), 0), Double(count - 1)))
    first = Int(min(max((center - radius).rounded(.up), 0), Double(last)))
    let raw = (first...last).map { max(0.001, 1 - abs(Double($0) - center) / radius) }
    let sum = raw.reduce(0, +)
    values = raw.map { Float($0 / sum) }
    part = Float(min(end, Double(pixel) + 1) - max(start, Double(pixel)))
  }
}

/// Pixels as they are seen in one of the eight orientations of Exif.
package struct PictureView {
  private let pixels: Pixels
  package let (width, height): (Int, Int)
  private var (start, across, down): (Int, Int, Int)

  /// - Parameter orientation: from 1 to 8.
  package init(_ pixels: Pixels, orientation: Int = 1) {
    let (columns, rows) = (pixels.width, pixels.height)
    self.pixels = pixels
    (width, height) = orientation >= 5 ? (rows, columns) : (columns, rows)
    let (lastColumn, lastRow) = (columns - 1, (rows - 1) * columns)
    (start, across, down) =
      switch orientation {
      case 2: (lastColumn, -1, columns)
      case 3: (lastColumn + lastRow, -1, -columns)
      case 4: (lastRow, 1, -columns)
      case 5: (0, columns, 1)
      case 6: (lastRow, -columns, 1)
      case 7: (lastColumn + lastRow, -columns, -1)
      case 8: (lastColumn, columns, -1)
      default: (0, 1, columns)
      }
  }

  package func flipped(isMirrored: Bool, isUpsideDown: Bool) -> PictureView {
    var view = self
    if isMirrored { (view.start, view.across) = (view.start + (width - 1) * across, -across) }
    if isUpsideDown { (view.start, view.down) = (view.start + (height - 1) * down, -down) }
    return view
  }

  /// Returns a row between rows. The colours are multiplied by alpha, and all parts are from 0 to 1.
  fileprivate func row(_ weights: Weights) -> [SIMD4<Float>] {
    var row = [SIMD4<Float>](repeating: .zero, count: width)
    for (y, weight) in zip(weights.first..., weights.values) {
      for x in 0..<width {
        let pixel = pixels.bytes + (start + x * across + y * down) * 4
        let alpha = Float(pixel[3]) / 255
        row[x] += SIMD4(Float(pixel[0]) * alpha, Float(pixel[1]) * alpha, Float(pixel[2]) * alpha, 255 * alpha) * (weight / 255)
      }
    }
    return row
  }
}
