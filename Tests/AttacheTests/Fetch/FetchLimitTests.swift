import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchLimitTests {
  private static let limits = MediaLimits(image: 20_000, audio: 30_000, video: 40_000)

  /// Sends a file of this many bytes that begins with `head`.
  private func fetch(
    _ head: [UInt8], size: Int, faults: [Fault] = [], _ check: (Fetched, FetchStage) async throws -> Void
  ) async throws {
    try await withFetchStage {
      $0.limits = Self.limits
    } _: { stage in
      stage.origin.serve("/a", Sample.padded(head, to: size), faults: faults)
      try await check(await stage.fetch("/a"), stage)
      #expect(await stage.isAtRest())
    }
  }

  @Test(arguments: [("picture.png", 20_000, Reason.sizeImage), ("song.mp3", 30_000, .sizeAudio), ("clip.mp4", 40_000, .sizeLimit)])
  func `a file of its kind's limit is taken, one byte more is not`(_ name: String, limit: Int, reason: Reason) async throws {
    let head = Sample.fixture(name)
    for faults in [[], [Fault.chunked]] {
      try await fetch(head, size: limit, faults: faults) { fetched, _ in
        #expect(fetched.file?.size == limit)
      }
      try await fetch(head, size: limit + 1, faults: faults) { fetched, _ in
        // A chunked video exceeds every limit when it exceeds its own. Whether its kind is known by
        // then depends on timing.
        #expect(fetched.reason == reason || reason == .sizeLimit && fetched.reason == .sizeVideo)
      }
    }
  }

  @Test func `a length beyond the limit of its kind is refused as soon as the kind is known`() async throws {
    try await fetch(Sample.png, size: 40_000, faults: [.stall(afterBytes: 5_000)]) { fetched, stage in
      #expect(fetched.reason == .sizeImage)
      #expect(fetched.record.type == .png)
      #expect(fetched.record.bytes == 5_000)
      await stage.origin.waitForConnections(closed: 1)
    }
  }

  @Test func `a body without an end is cut at the limit and its connection given up`() async throws {
    try await fetch(Sample.png, size: 4_000, faults: [.endlessChunks]) { fetched, stage in
      #expect(fetched.reason == .sizeImage || fetched.reason == .sizeLimit)
      #expect(fetched.record.bytes <= Self.limits.largest + CurlTransfer.bufferSize)
      await stage.origin.waitForConnections(closed: 1)
    }
  }

  @Test func `a wrong type is cut off while it comes`() async throws {
    try await withFetchStage { stage in
      let page = Array("<!DOCTYPE html><html><body>".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 5_000_000)
      stage.origin.serve("/a", page, faults: [.stall(afterBytes: 5_000)])
      let fetched = await stage.fetch("/a")
      #expect(fetched.reason == .typeUnsupported)
      #expect(fetched.record.bytes == 5_000)
      await stage.origin.waitForConnections(closed: 1)
      #expect(stage.origin.sentBodyBytes(path: "/a") < 10_000)
    }
  }

  @Test func `a wrong type that comes fast is cut off all the same`() async throws {
    try await withFetchStage { stage in
      let page = Array("<!DOCTYPE html><html><body>".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 49_000_000)
      stage.origin.serve("/a", page)
      #expect(await stage.fetch("/a").reason == .typeUnsupported)
      await stage.origin.waitForConnections(closed: 1)
      #expect(stage.origin.sentBodyBytes(path: "/a") < 30_000_000)
    }
  }

  @Test func `a large file comes whole`() async throws {
    try await withFetchStage { stage in
      let noise = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 5) }
      stage.origin.serve("/a", Sample.png + noise)
      let fetched = await stage.fetch("/a")
      #expect(fetched.file?.sha256 == Sample.sha256(Sample.png + noise))
    }
  }

  @Test(arguments: [100, 4_096, 20_000]) func `a file behind an ID3 tag is what stands behind the tag`(_ length: Int) async throws {
    let flac = Array("fLaC\0\0\0\u{22}\u{10}\0\u{10}\0".utf8) + [UInt8](repeating: 0, count: 6_000)
    let aac = (0..<40).flatMap { _ in [0xFF, 0xF1, 0x50, 0x80, 0x10, 0x1F, 0xFC] + [UInt8](repeating: 0x21, count: 121) }
    try await withFetchStage { stage in
      for (name, bytes) in [("flac", flac), ("aac", aac), ("mp3", Sample.fixture("song-tagless.mp3"))] {
        stage.origin.serve("/\(name)", FileStructureTests.tag(length) + bytes)
      }
      #expect(await stage.fetch("/flac").reason == .typeUnsupported)
      #expect(await stage.fetch("/aac").reason == .typeUnsupported)
      #expect(await stage.fetch("/mp3").file?.type == .mp3)
      #expect(await stage.isAtRest())
    }
  }
}
