import CExtensionRuntime
@_exported import CoreGraphics
@_exported import Groundwork
@_exported import UniformTypeIdentifiers
@_exported import UserNotifications

/// A picture. libvips decodes and encodes it if it is installed.
open class UIImage: NSObject, @unchecked Sendable {
  public enum Orientation: Int, Sendable {
    case up = 0
    case down = 1
    case left = 2
    case right = 3
    case upMirrored = 4
    case downMirrored = 5
    case leftMirrored = 6
    case rightMirrored = 7
  }

  /// The encoded bytes, if the picture comes from some.
  private let bytes: Data?
  private let picture: CGImage?
  public let size: CGSize
  public let scale: CGFloat
  public let imageOrientation: Orientation

  public convenience init?(data: Data) {
    self.init(data: data, scale: 1)
  }

  /// - Returns: nil if the bytes are no picture.
  public init?(data: Data, scale: CGFloat) {
    guard scale > 0, scale.isFinite else { return nil }
    (bytes, self.scale) = (data, scale)
    if runtime_has_codec() {
      guard let header = Picture.header(data), let picture = CGImage(data: data) else { return nil }
      self.picture = picture
      imageOrientation = Orientation(exif: Int(header.orientation))
      size = Self.size(picture.width, picture.height, scale, imageOrientation)
    } else {
      guard let header = PictureHeader.size(of: [UInt8](data.prefix(1 << 20))) else { return nil }
      (picture, imageOrientation) = (nil, .up)
      size = Self.size(header.width, header.height, scale, .up)
    }
    super.init()
  }

  public convenience init(cgImage: CGImage) {
    self.init(cgImage: cgImage, scale: 1, orientation: .up)
  }

  public init(cgImage: CGImage, scale: CGFloat, orientation: Orientation) {
    (bytes, picture, self.scale, imageOrientation) = (nil, cgImage, scale, orientation)
    size = Self.size(cgImage.width, cgImage.height, scale, orientation)
    super.init()
  }

  private static func size(_ width: Int, _ height: Int, _ scale: CGFloat, _ orientation: Orientation) -> CGSize {
    let (width, height) = (CGFloat(width) / scale, CGFloat(height) / scale)
    return orientation.isTurned ? CGSize(width: height, height: width) : CGSize(width: width, height: height)
  }

  /// The picture as it is stored, without its orientation; nil if libvips is not installed.
  open var cgImage: CGImage? { picture }

  public convenience init?(contentsOfFile path: String) {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    self.init(data: data)
  }

  /// Creates the image of a file in the bundle: with the extension `png` or `jpg` unless the name
  /// has one.
  public convenience init?(named name: String) {
    let candidates = [name, name + ".png", name + "@2x.png", name + "@3x.png", name + ".jpg", name + ".jpeg"]
    guard let path = candidates.compactMap({ Bundle.main.path(forResource: $0, ofType: nil) }).first else { return nil }
    self.init(contentsOfFile: path)
  }

  open func pngData() -> Data? {
    encode(".png", isAlready: bytes?.starts(with: [0x89, 0x50, 0x4E, 0x47]) ?? false, orientation: 1)
  }

  /// - Parameter compressionQuality: from 0 (smallest) to 1 (best).
  open func jpegData(compressionQuality: CGFloat) -> Data? {
    encode(Picture.jpeg(Double(compressionQuality)), isAlready: false, orientation: imageOrientation.exif)
  }

  /// Decodes the picture into memory, as iOS does, and encodes its pixels.
  private func encode(_ suffix: String, isAlready: Bool, orientation: Int) -> Data? {
    if let picture { return picture.pixels?.encoded(suffix, orientation: orientation) }
    if !isAlready {
      HostLink.note(
        .transcodedImage, "a picture was to be encoded as \(suffix), and libvips is not installed: its bytes stay as they were")
    }
    return bytes
  }

  /// Draws the picture in the current context, scaled to a rectangle.
  open func draw(in rect: CGRect) {
    draw(in: rect, blendMode: .normal, alpha: 1)
  }

  open func draw(at point: CGPoint) {
    draw(in: CGRect(origin: point, size: size))
  }

  /// Draws the picture in the current context, scaled to a rectangle.
  ///
  /// - Parameter alpha: how opaque it is, from 0 to 1.
  open func draw(in rect: CGRect, blendMode: CGBlendMode, alpha: CGFloat) {
    guard let context = UIGraphicsGetCurrentContext(), let pixels = picture?.pixels else { return }
    context.draw(PictureView(pixels, orientation: imageOrientation.exif), in: rect, alpha: alpha)
  }

  /// Returns the picture scaled to fit into a size of points.
  open func preparingThumbnail(of size: CGSize) -> UIImage? {
    guard picture != nil, size.width > 0, size.height > 0 else { return nil }
    let factor = min(size.width / self.size.width, size.height / self.size.height)
    let scaled = CGSize(width: (self.size.width * factor).rounded(), height: (self.size.height * factor).rounded())
    let format = UIGraphicsImageRendererFormat()
    format.scale = scale
    return UIGraphicsImageRenderer(size: scaled, format: format).image { _ in draw(in: CGRect(origin: .zero, size: scaled)) }
  }

  open func byPreparingThumbnail(ofSize size: CGSize) async -> UIImage? {
    preparingThumbnail(of: size)
  }
}

extension UIImage.Orientation {
  /// The orientations as Exif counts them, from 1 on.
  private static let exifOrder: [Self] = [.up, .upMirrored, .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left]

  init(exif: Int) {
    self = (1...8).contains(exif) ? Self.exifOrder[exif - 1] : .up
  }

  var exif: Int { (Self.exifOrder.firstIndex(of: self) ?? 0) + 1 }

  /// Whether width and height change places.
  var isTurned: Bool { exif >= 5 }
}

public func UIImagePNGRepresentation(_ image: UIImage) -> Data? {
  image.pngData()
}

public func UIImageJPEGRepresentation(_ image: UIImage, _ compressionQuality: CGFloat) -> Data? {
  image.jpegData(compressionQuality: compressionQuality)
}

/// The size of a picture, from its header, where libvips is not installed.
private enum PictureHeader {
  static func size(of bytes: [UInt8]) -> (width: Int, height: Int)? {
    read(bytes).flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
  }

  private static func read(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    func big(_ at: Int, _ count: Int) -> Int? {
      at + count <= bytes.count ? bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) } : nil
    }
    func little(_ at: Int) -> Int? { at + 2 <= bytes.count ? Int(bytes[at]) | Int(bytes[at + 1]) << 8 : nil }
    func pair(_ width: Int?, _ height: Int?) -> (width: Int, height: Int)? { width.flatMap { width in height.map { (width, $0) } } }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return pair(big(16, 4), big(20, 4)) }
    if bytes.starts(with: Array("GIF8".utf8)) { return pair(little(6), little(8)) }
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var at = 2
    while at + 9 < bytes.count, bytes[at] == 0xFF {
      let marker = bytes[at + 1]
      // The frame headers of JPEG: SOF0 to SOF15 without the tables DHT, JPG and DAC.
      if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) { return pair(big(at + 7, 2), big(at + 5, 2)) }
      guard let length = big(at + 2, 2), length >= 2 else { return nil }
      at += 2 + length
    }
    return nil
  }
}
