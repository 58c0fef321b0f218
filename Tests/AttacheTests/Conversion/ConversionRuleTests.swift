import Testing

@testable import Attache

/// The decisions about a conversion, without libvips.
struct ConversionRuleTests {
  private static let limits = MediaLimits(image: 1_000, pixels: 10_000)

  @Test(arguments: [
    (1_000, 100, 100, false), (1_001, 100, 100, true), (1_000, 100, 101, true), (10, 120, 10, false), (10, 121, 10, true),
    (10, 10, 121, true), (10, .max, .max, true),
  ])
  func `a picture is shrunk when one of its limits is exceeded`(bytes: Int, width: Int, height: Int, shrinks: Bool) {
    let conversion = Conversion(maximumSide: 120)
    #expect(conversion.shrinks(bytes: bytes, width: width, height: height, limits: Self.limits) == shrinks)
  }

  @Test(arguments: [
    ("image/webp", PictureFormat.webp), ("image/heic", .heic), ("image/heif", .heif), ("image/avif", .avif), ("image/tiff", .tiff),
    ("image/svg+xml", nil), ("application/pdf", nil), ("image/jxl", nil), ("image/jpeg", nil), ("IMAGE/WEBP", nil), ("", nil),
  ])
  func `four formats that Apple does not list are converted`(name: String, format: PictureFormat?) {
    #expect(PictureFormat(foreign: name) == format)
  }

  @Test func `a number of a format is its own, and others are refused`() {
    for format in PictureFormat.allCases { #expect(PictureFormat(code: format.code) == format) }
    #expect(Set(PictureFormat.allCases.map(\.code)).count == PictureFormat.allCases.count)
    for code in [0, UInt8(PictureFormat.allCases.count + 1), 255] { #expect(PictureFormat(code: code) == nil) }
  }

  @Test func `a conversion widens the limits of downloaded pictures, and no other`() {
    let plain = DownloadLimits(MediaLimits(), nil)
    let limits = MediaLimits(image: 1_000, audio: 2_000, video: 3_000, pixels: 10)
    let wide = DownloadLimits(limits, Conversion(sourceBytes: 9_000, sourcePixels: 99))
    #expect([plain[.image], plain[.audio], plain[.video]] == [10_000_000, 5_000_000, 50_000_000])
    #expect([plain.largest, plain.pixels] == [50_000_000, 50_000_000])
    #expect([wide[.image], wide[.audio], wide[.video], wide.largest, wide.pixels] == [9_000, 2_000, 3_000, 9_000, 99])
    let narrow = DownloadLimits(MediaLimits(image: 1_000, pixels: 10), Conversion(sourceBytes: 5, sourcePixels: 5))
    #expect([narrow[.image], narrow.pixels] == [1_000, 10], "what may be attached as it is may be downloaded")
  }

  @Test func `every parameter of a step changes the key of the cache`() {
    let steps: [[MediaStep]] = [
      [], [.convert(Conversion())], [.convert(Conversion(maximumSide: 9))], [.convert(Conversion(sourceBytes: 9))],
      [.convert(Conversion(sourcePixels: 9))],
    ]
    var keys = steps.map { IndexKey("https://cdn.example/a", roots: [1, 2], steps: $0.identity(MediaLimits())) }
    for limits in [MediaLimits(image: 9), MediaLimits(pixels: 9)] {
      keys.append(IndexKey("https://cdn.example/a", roots: [1, 2], steps: steps[1].identity(limits)))
    }
    #expect(Set(keys).count == keys.count)
  }

  @Test(arguments: [
    (Duration.seconds(10), Duration.seconds(9)), (.seconds(1), .milliseconds(850)), (.milliseconds(300), .milliseconds(150)),
    (.milliseconds(100), .zero), (.zero, .zero), (.seconds(-1), .zero),
  ])
  func `a conversion leaves time to attach the original`(budget: Duration, time: Duration) {
    #expect(Fetch.conversionTime(within: budget) == time)
  }
}
