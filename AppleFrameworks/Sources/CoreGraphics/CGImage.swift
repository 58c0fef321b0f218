import CExtensionRuntime
import Groundwork

/// A picture. It is decoded when its pixels are needed, and not before.
public final class CGImage: @unchecked Sendable {
  private enum Source {
    case encoded(Data, page: Int)
    case pixels(Pixels)
  }

  public let width: Int
  public let height: Int
  private let source: Source

  /// - Returns: nil if libvips is not installed, or the bytes are no picture.
  package init?(data: Data, page: Int = 0) {
    guard let header = Picture.header(data, page: page) else { return nil }
    (width, height, source) = (Int(header.width), Int(header.height), .encoded(data, page: page))
  }

  package init(_ pixels: Pixels) {
    (width, height, source) = (pixels.width, pixels.height, .pixels(pixels))
  }

  /// The pixels; nil if the picture is damaged. Each call decodes anew, so that the memory is counted while it is used.
  package var pixels: Pixels? {
    switch source {
    case .encoded(let data, let page): Pixels.decoding(data, page: page, runtime_decode)
    case .pixels(let pixels): pixels
    }
  }

  public var bitsPerComponent: Int { 8 }
  public var bitsPerPixel: Int { 32 }
  public var bytesPerRow: Int { width * 4 }
  public var alphaInfo: CGImageAlphaInfo { .last }

  /// The pixels as ``alphaInfo`` says; nil if the picture is damaged.
  public var dataProvider: CGDataProvider? {
    pixels.map { CGDataProvider(Data(bytes: $0.bytes, count: $0.width * $0.height * 4)) }
  }

  /// Returns a part of the picture.
  ///
  /// - Parameter rect: the part in pixels.
  /// - Returns: nil if `rect` is outside.
  public func cropping(to rect: CGRect) -> CGImage? {
    let part = rect.standardized.integral.intersection(CGRect(x: 0, y: 0, width: Double(width), height: Double(height)))
    guard part.width.isFinite, part.height.isFinite, !part.isEmpty, let pixels,
      let result = Pixels.blank(Int(part.width), Int(part.height))
    else { return nil }
    for row in 0..<result.height {
      let start = ((row + Int(part.minY)) * width + Int(part.minX)) * 4
      (result.bytes + row * result.width * 4).update(from: pixels.bytes + start, count: result.width * 4)
    }
    return CGImage(result)
  }
}

/// Bytes for a picture.
public final class CGDataProvider: Sendable {
  private let bytes: Data

  fileprivate init(_ bytes: Data) {
    self.bytes = bytes
  }

  public convenience init?(data: CFData) {
    self.init(data as Data)
  }

  public var data: CFData? { bytes as NSData }
}
