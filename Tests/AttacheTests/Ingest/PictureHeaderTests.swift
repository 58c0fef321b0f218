import AttacheTesting
import Testing

@testable import Attache

@Suite struct PictureHeaderTests {
  @Test(arguments: [
    ("photo.webp", PictureFormat.webp, 96 * 64), ("photo-lossless.webp", .webp, 96 * 64), ("photo-transparent.webp", .webp, 96 * 64),
    ("animation.webp", .webp, 3 * 64 * 48), ("photo.heic", .heic, 96 * 64), ("photo.avif", .avif, 64 * 48), ("photo.tiff", .tiff, 32 * 32),
  ])
  func `the header says how many pixels there are`(name: String, format: PictureFormat, pixels: Int) {
    #expect(PictureHeader.pixels(of: format, in: Sample.fixture(name)) == pixels)
  }

  /// A lossless picture whose five prefix codes have one symbol each, so that a pixel takes no bit.
  static let vast: [UInt8] = [
    0x52, 0x49, 0x46, 0x46, 0x1A, 0x00, 0x00, 0x00, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38, 0x4C, 0x0E,
    0x00, 0x00, 0x00, 0x2F, 0x27, 0xE3, 0xC9, 0x08, 0xE8, 0x41, 0x01, 0x0A, 0xD0, 0xFF, 0x00, 0x00, 0x00,
  ]

  @Test func `a WebP of 34 bytes has 81 million pixels`() {
    #expect(Self.vast.count == 34)
    #expect(PictureHeader.pixels(of: .webp, in: Self.vast) == 81_000_000)
  }

  @Test(arguments: PictureFormat.allCases) func `no bytes of a header crash it`(format: PictureFormat) {
    for name in ["photo.webp", "animation.webp", "photo.heic", "photo.avif", "photo.tiff"] {
      let bytes = Sample.fixture(name)
      for end in 0..<min(bytes.count, 400) { _ = PictureHeader.pixels(of: format, in: Array(bytes[..<end])) }
      for place in 0..<min(bytes.count, 200) {
        for value: UInt8 in [0, 1, 0x7F, 0xFF] {
          var bytes = bytes
          bytes[place] = value
          _ = PictureHeader.pixels(of: format, in: bytes)
        }
      }
    }
    _ = PictureHeader.pixels(of: format, in: [UInt8](repeating: 0xFF, count: 4_096))
  }
}
