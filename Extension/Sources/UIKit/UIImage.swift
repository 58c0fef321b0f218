@_exported import CoreGraphics
import CGroundwork
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

  private let bytes: Data
  public let size: CGSize
  public let scale: CGFloat
  public let imageOrientation = Orientation.up

  public convenience init?(data: Data) {
    self.init(data: data, scale: 1)
  }

  /// - Returns: nil if the bytes are no picture.
  public init?(data: Data, scale: CGFloat) {
    guard let size = PictureHeader.size(of: data), scale > 0 else { return nil }
    bytes = data
    (self.size, self.scale) = (CGSize(width: Double(size.width) / Double(scale), height: Double(size.height) / Double(scale)), scale)
    super.init()
  }

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
    encode(".png", isAlready: bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
  }

  /// - Parameter compressionQuality: from 0 (smallest) to 1 (best).
  open func jpegData(compressionQuality: CGFloat) -> Data? {
    let quality = Int((min(max(compressionQuality.isFinite ? compressionQuality : 1, 0), 1) * 99).rounded()) + 1
    return encode(".jpg[Q=\(quality)]", isAlready: false)
  }

  private func encode(_ suffix: String, isAlready: Bool) -> Data? {
    guard groundwork_has_codec() else {
      if !isAlready {
        HostLink.note(
          .transcodedImage, "a picture was to be encoded as \(suffix), and libvips is not installed: its bytes stay as they were")
      }
      return bytes
    }
    return bytes.withUnsafeBytes { input -> Data? in
      var count = 0
      guard let base = input.baseAddress, let encoded = groundwork_encode(base, input.count, suffix, &count) else { return nil }
      return Data(bytesNoCopy: encoded, count: count, deallocator: .free)
    }
  }
}

public func UIImagePNGRepresentation(_ image: UIImage) -> Data? {
  image.pngData()
}

public func UIImageJPEGRepresentation(_ image: UIImage, _ compressionQuality: CGFloat) -> Data? {
  image.jpegData(compressionQuality: compressionQuality)
}

/// The size of a picture, from its header.
private enum PictureHeader {
  static func size(of data: Data) -> (width: Int, height: Int)? {
    let size = groundwork_has_codec() ? byCodec(data) : byHeader([UInt8](data.prefix(1 << 20)))
    return size.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
  }

  private static func byCodec(_ data: Data) -> (width: Int, height: Int)? {
    data.withUnsafeBytes { bytes in
      var (width, height): (Int32, Int32) = (0, 0)
      guard let base = bytes.baseAddress, groundwork_picture_size(base, bytes.count, &width, &height) else { return nil }
      return (Int(width), Int(height))
    }
  }

  private static func byHeader(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
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
