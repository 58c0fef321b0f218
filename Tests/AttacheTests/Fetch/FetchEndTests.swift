import AttacheTesting
import Testing

@testable import Attache

/// Bodies without a length: what shows that no byte is missing at their end.
@Suite(.timeLimit(.minutes(1))) struct FetchEndTests {
  /// How much of a file arrives, and its name.
  private static let cuts = ["whole", "10 %", "50 %", "90 %", "all but a byte"]

  private static func length(_ cut: String, of count: Int) -> Int {
    switch cut {
    case "whole": count
    case "all but a byte": count - 1
    default: count * (Int(cut.prefix(2)) ?? 0) / 100
    }
  }

  private static func isAttached(_ fixture: MediaFixture, _ cut: String) -> Bool {
    let endless = ["public.mp3", "public.mpeg", "public.mpeg-2-video"]
    return cut == "whole" && !endless.contains(fixture.answer.type ?? "")
  }

  @Test func `over plain http, a body without a length is attached only if the file itself marks its end`() async throws {
    try await withFetchStage {
      $0.retries = 0
    } _: { stage in
      for fixture in MediaFixture.accepted {
        let bytes = try fixture.bytes
        for cut in Self.cuts {
          let path = "/\(fixture.name)/\(cut.prefix(2))"
          stage.origin.serve(path, Array(bytes.prefix(Self.length(cut, of: bytes.count))), faults: [.noContentLength])
          let fetched = await stage.fetch(path)
          #expect(
            (fetched.file != nil) == Self.isAttached(fixture, cut), "\(fixture.name), \(cut): \(String(describing: fetched.reason))")
        }
      }
      #expect(await stage.isAtRest())
    }
  }

  @Test(arguments: ["song.mp3", "film.mpg", "film.m2v"])
  func `a length, chunks and a resumption show the end, and half of the file is then what the origin has`(_ name: String) async throws {
    let bytes = try MediaFixture(name: name, answer: .init()).bytes
    try await withFetchStage { stage in
      for (number, faults) in [[], [Fault.chunked], [.etag("\"v1\""), .once(.closeEarly(afterBytes: bytes.count / 2))], [.http10]]
        .enumerated()
      {
        stage.origin.serve("/\(number)", bytes, faults: faults)
        #expect(await stage.fetch("/\(number)").file?.size == bytes.count, "\(faults)")
      }
      // What looks like the end of a first body is the end of no second one.
      for fault in [Fault.closeEarly(afterBytes: bytes.count / 2), .reset(afterBytes: bytes.count / 2)] {
        stage.origin.serve("/cut", bytes, faults: [.noContentLength, fault])
        #expect(await stage.fetch("/cut").reason == .httpTruncated)
      }
    }
  }

  @Test(arguments: ["song.mp3", "film.mpg"], [false, true])
  func `over TLS, a body ends where its connection or its stream does, and only there`(_ name: String, _ http2: Bool) async throws {
    let bytes = try MediaFixture(name: name, answer: .init()).bytes
    try await withFetchStage(tls: .selfMade(), http2: http2) {
      $0.retries = 0
    } _: { stage in
      stage.origin.serve("/whole", bytes, faults: [.noContentLength])
      #expect(await stage.fetch("/whole").file?.size == bytes.count)
      stage.origin.serve("/cut", bytes, faults: [.noContentLength, .reset(afterBytes: bytes.count / 2)])
      #expect(await stage.fetch("/cut").reason == .httpTruncated)
    }
  }
}
