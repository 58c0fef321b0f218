import CExtensionRuntime
import Groundwork

/// Decoded pixels: red, green, blue and alpha, which is not multiplied into the colours, in a byte each.
package final class Pixels: @unchecked Sendable {
  /// The greatest number of pixels that a context may have.
  private static let most = 1 << 28

  package let (width, height): (Int, Int)
  package let bytes: UnsafeMutablePointer<UInt8>

  /// - Parameter bytes: memory of `malloc`, which becomes this object's.
  private init(_ bytes: UnsafeMutablePointer<UInt8>, _ width: Int, _ height: Int) {
    (self.bytes, self.width, self.height) = (bytes, width, height)
  }

  deinit {
    free(bytes)
  }

  /// Returns transparent pixels.
  ///
  /// - Returns: nil for a size without pixels, or with too many.
  package static func blank(_ width: Int, _ height: Int) -> Pixels? {
    guard width > 0, height > 0, width <= most / height, let memory = calloc(width * height, 4) else { return nil }
    return Pixels(memory.assumingMemoryBound(to: UInt8.self), width, height)
  }

  package func copy() -> Pixels? {
    guard let copy = Self.blank(width, height) else { return nil }
    copy.bytes.update(from: bytes, count: width * height * 4)
    return copy
  }

  /// Returns the pixels that libvips decodes.
  ///
  /// - Parameter decode: a function of libvips, which receives where the width and the height go.
  package static func decoding(
    _ data: Data, page: Int,
    _ decode: (runtime_picture, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> UnsafeMutablePointer<UInt8>?
  ) -> Pixels? {
    var (width, height): (Int32, Int32) = (0, 0)
    guard let bytes = Picture.with(data, page: page, { decode($0, &width, &height) }) ?? nil else { return nil }
    return Pixels(bytes, Int(width), Int(height))
  }

  /// Encodes the pixels.
  ///
  /// - Parameters:
  ///   - suffix: the format as libvips writes it.
  ///   - orientation: the orientation as Exif has it.
  package func encoded(_ suffix: String, orientation: Int = 1) -> Data? {
    var count = 0
    guard let encoded = runtime_encode(bytes, Int32(width), Int32(height), Int32(orientation), suffix, &count) else { return nil }
    return Data(bytesNoCopy: encoded, count: count, deallocator: .free)
  }
}

/// The encoded bytes of a picture.
package enum Picture {
  /// Calls `body` with a page of a picture.
  ///
  /// - Returns: nil if there are no bytes.
  package static func with<Result>(_ data: Data, page: Int = 0, _ body: (runtime_picture) -> Result) -> Result? {
    data.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, !buffer.isEmpty, let page = Int32(exactly: page) else { return nil }
      return body(runtime_picture(bytes: base, count: buffer.count, page: page))
    }
  }

  /// Returns what the header says; nil if libvips is not installed, or the bytes are no picture.
  package static func header(_ data: Data, page: Int = 0) -> runtime_header? {
    var header = runtime_header()
    guard with(data, page: page, { runtime_read_header($0, &header) }) == true else { return nil }
    return header
  }

  /// Returns the options with which libvips writes JPEG of a quality from 0 to 1.
  package static func jpeg(_ quality: Double) -> String {
    let quality = Int((min(max(quality.isFinite ? quality : 1, 0), 1) * 99).rounded()) + 1
    return ".jpg[Q=\(quality),background=255]"
  }
}
