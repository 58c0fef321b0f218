import AttacheTesting
import CPictureProbe
import Foundation
import Testing

@testable import Attache

/// Conversions by libvips, from an origin to a file of the store.
@Suite(.timeLimit(.minutes(2))) struct ConversionTests {
  struct Expected: Sendable {
    var name: String
    var type: MediaType
    var from: PictureFormat
    var size: (Int32, Int32)
    var frames: Int32 = 1
    var bands: Int32 = 3
  }

  private static let expected = [
    Expected(name: "photo.webp", type: .jpeg, from: .webp, size: (96, 64)),
    Expected(name: "photo-lossless.webp", type: .jpeg, from: .webp, size: (96, 64)),
    Expected(name: "photo-transparent.webp", type: .png, from: .webp, size: (96, 64), bands: 4),
    Expected(name: "animation.webp", type: .gif, from: .webp, size: (64, 48), frames: 3, bands: 4),
    Expected(name: "photo.heic", type: .jpeg, from: .heic, size: (96, 64)),
    Expected(name: "photo.avif", type: .jpeg, from: .avif, size: (64, 48)),
    Expected(name: "photo.tiff", type: .jpeg, from: .tiff, size: (32, 32)),
  ]

  @Test func `what Apple does not list becomes what it lists, in its own size and without metadata`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion())] }) { stage in
      for row in Self.expected {
        stage.origin.serve("/\(row.name)", Sample.fixture(row.name))
        let end = await stage.fetch("/\(row.name)")
        let file = try #require(end.file, "\(row.name): \(end.reason.map { "\($0)" } ?? "")")
        #expect(file.type == row.type, "\(row.name)")
        let picture = try Self.decoded(file, of: stage)
        #expect((picture.width, picture.height) == row.size, "\(row.name)")
        #expect(picture.frames == row.frames, "\(row.name)")
        #expect(picture.bands == row.bands, "\(row.name)")
        #expect(!picture.has_exif && !picture.has_profile, "\(row.name)")
        #expect(file.conversion == PictureConversion(from: row.from, size: file.size, width: Int(row.size.0), height: Int(row.size.1)))
        #expect(end.record.converted == file.conversion)
        #expect(end.record.bytes == Sample.fixture(row.name).count)
      }
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a picture within the limits keeps its bytes`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion(maximumSide: 96))] }) { stage in
      for name in ["photo.jpg", "photo-turned.jpg", "photo-p3.jpg", "picture-alpha.png", "animation.gif", "song.mp3", "clip.mp4"] {
        stage.origin.serve("/\(name)", Sample.fixture(name))
        let file = try #require(await stage.fetch("/\(name)").file, "\(name)")
        #expect(file.sha256 == Sample.sha256(Sample.fixture(name)), "\(name)")
        #expect(file.conversion == nil, "\(name)")
      }
    }
  }

  @Test(arguments: [
    ("photo.jpg", MediaType.jpeg, Int32(48), Int32(32)), ("photo-turned.jpg", .jpeg, 32, 48), ("picture-alpha.png", .png, 48, 32),
    ("photo-cmyk.jpg", .jpeg, 48, 32), ("photo-grey.jpg", .jpeg, 48, 32), ("animation-ffmpeg.gif", .gif, 48, 36),
    ("photo.heic", .jpeg, 48, 32),
  ])
  func `a larger picture is shrunk to the side, turned as Exif says`(name: String, type: MediaType, width: Int32, height: Int32)
    async throws
  {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion(maximumSide: 48))] }) { stage in
      stage.origin.serve("/a", Sample.fixture(name))
      let file = try #require(await stage.fetch("/a").file)
      let picture = try Self.decoded(file, of: stage)
      #expect(file.type == type)
      #expect((picture.width, picture.height) == (width, height))
    }
  }

  @Test func `a picture becomes small enough in pixels and in bytes`() async throws {
    let pixels = MediaLimits(pixels: 600)
    try await withFetchStage(configure: { ($0.steps, $0.limits) = ([.convert(Conversion())], pixels) }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.jpg"))
      let file = try #require(await stage.fetch("/a").file)
      let picture = try Self.decoded(file, of: stage)
      #expect((500...600).contains(picture.width * picture.height), "\(picture.width) × \(picture.height)")
    }
    let bytes = MediaLimits(image: 700)
    try await withFetchStage(configure: { ($0.steps, $0.limits) = ([.convert(Conversion())], bytes) }) { stage in
      for name in ["photo.webp", "animation.webp"] {
        stage.origin.serve("/\(name)", Sample.fixture(name))
        let file = try #require(await stage.fetch("/\(name)").file)
        // Without room for the animation, its first frame is left.
        #expect(file.type == .jpeg)
        #expect(file.size <= 700)
      }
    }
  }

  @Test func `wide colours become those of sRGB`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion(maximumSide: 48))] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo-p3.jpg"))
      let source = try Self.decoded(Sample.fixture("photo-p3.jpg"))
      #expect(source.has_profile && source.pixel.0 > 60, "the fixture's numbers are those of another colour space")
      let file = try #require(await stage.fetch("/a").file)
      let picture = try Self.decoded(file, of: stage)
      #expect(abs(picture.pixel.0) < 12 && abs(picture.pixel.1 - 200) < 12 && abs(picture.pixel.2) < 12, "\(picture.pixel)")
      #expect(!picture.has_profile)
    }
  }

  @Test(arguments: [
    ("photo-cut.webp", Reason.convertFailed), ("photo-cut.heic", .convertFailed), ("photo-flood.tiff", .sizePixels),
    ("drawing.svg", .typeUnsupported), ("letter.pdf", .typeUnsupported), ("photo.jxl", .typeUnsupported), ("photo-cut.jpg", .typeBroken),
  ])
  func `what cannot be converted is refused with its reason, and the next is converted`(name: String, reason: Reason) async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/bad", Sample.fixture(name))
      stage.origin.serve("/good", Sample.fixture("photo.webp"))
      #expect(await stage.fetch("/bad").reason == reason)
      #expect(await stage.fetch("/good").file?.type == .jpeg)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `a JPEG that is damaged only by its structure is encoded anew, and the record says so`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion(maximumSide: 90))] }) { stage in
      // A picture of which libvips warns comes first.
      stage.origin.serve("/grey", Sample.fixture("photo.jpg").dropLast(200) + [0xFF, 0xD9])
      #expect(await stage.fetch("/grey").record.converted?.isRepair == false)
      for path in ["/a", "/b"] {
        stage.origin.serve(path, Sample.fixture("photo-endless.jpg"))
        let end = await stage.fetch(path)
        let file = try #require(end.file, "\(end.reason.map { "\($0)" } ?? "")")
        #expect(file.type == .jpeg)
        #expect(
          end.record.converted == PictureConversion(from: .jpeg, size: file.size, width: 90, height: 60, isRepair: true),
          "also of the same bytes")
        let picture = try Self.decoded(file, of: stage)
        #expect((picture.width, picture.height) == (90, 60))
      }
      for cut in [3, 4, 20, 200] {
        stage.origin.serve("/cut/\(cut)", Sample.fixture("photo.jpg").dropLast(cut))
        guard case .failure(let failure) = await stage.fetch("/cut/\(cut)").result else {
          Issue.record("a part of a picture is attached: \(cut) bytes are missing")
          continue
        }
        #expect(failure.reason == .typeBroken)
        #expect(failure.message.contains("before its end marker") && failure.message.contains("--convert"), "\(failure.message)")
      }
    }
  }

  @Test func `a source beyond its own limits is refused, and its message names the flag`() async throws {
    let small = Conversion(sourceBytes: 200, sourcePixels: 6_000)
    try await withFetchStage(configure: { ($0.steps, $0.limits) = ([.convert(small)], MediaLimits(image: 200, pixels: 100)) }) { stage in
      for (name, reason, flag) in [
        ("photo.webp", Reason.sizeImage, "--source-limits"), ("photo-lossless.webp", .sizePixels, "--max-source-pixels"),
      ] {
        stage.origin.serve("/\(name)", Sample.fixture(name))
        let end = await stage.fetch("/\(name)")
        #expect(end.reason == reason, "\(name)")
        guard case .failure(let failure) = end.result else { continue }
        #expect(failure.message.contains(flag), "\(failure.message)")
      }
    }
  }

  @Test func `a URL is converted once for those who join, and for those who come later`() async throws {
    try await withFetchStage(configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"))
      let fetches = (0..<20).map { _ in stage.begin("/a") }
      for fetch in fetches {
        let end = await fetch.end
        #expect(end.record.converted?.from == .webp)
      }
      let later = await stage.fetch("/a")
      #expect(later.record.cache == .hit)
      #expect(later.record.converted?.from == .webp)
      #expect(stage.origin.requestCount(path: "/a") == 1)
    }
  }

  @Test func `the next run finds the converted file, and a run with other parameters does not`() async throws {
    let folder = AttachmentStoreTestFolder()
    // The port of the origin is part of the URL, so one origin serves all runs.
    try await withFetchStage(folder: folder, configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/a", Sample.fixture("photo.webp"), faults: [.header(name: "Cache-Control", value: "max-age=3600")])
      #expect(await stage.fetch("/a").file != nil)
      stage.fetcher.shutdown()
      for (side, requests) in [(2_048, 1), (48, 2), (48, 2), (2_048, 2)] {
        var configuration = stage.fetcher.memory.configuration
        configuration.steps = [.convert(Conversion(maximumSide: side))]
        let fetcher = try MediaFetcher(configuration, store: stage.store)
        let end = await RunningFetch(stage.origin.url("/a"), with: fetcher, store: stage.store, clock: stage.clock, budget: .seconds(20))
          .end
        #expect(end.record.converted?.width == min(96, side))
        fetcher.shutdown()
        #expect(stage.origin.requestCount(path: "/a") == requests, "\(side)")
      }
    }
  }

  static func decoded(_ file: StoredFile, of stage: FetchStage) throws -> picture_probe {
    let path = stage.folder.path + "/" + file.relativePath
    return try decoded([UInt8](Data(contentsOf: URL(filePath: path))))
  }

  /// Decodes a picture, and reads the pixel in its first corner but one.
  static func decoded(_ bytes: [UInt8]) throws -> picture_probe {
    var probe = picture_probe()
    let isDecoded = unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      return unsafe picture_decode(start, bytes.count, 2, 2, &probe)
    }
    try #require(isDecoded)
    return probe
  }
}
