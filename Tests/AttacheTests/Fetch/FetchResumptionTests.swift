import AttacheTesting
import Testing

@testable import Attache

/// How a truncated body is resumed.
@Suite(.timeLimit(.minutes(1))) struct FetchResumptionTests {
  private func fetch(_ faults: [Fault], _ check: (Fetched, [RecordedRequest]) throws -> Void) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Self.body, faults: faults)
      let fetched = await stage.fetch("/a")
      try check(fetched, stage.origin.requests)
      #expect(await stage.isAtRest())
    }
  }

  /// Longer than the part that determines the type, and without repetition.
  private static let body: [UInt8] = {
    let noise = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    return Sample.png + noise
  }()

  private static func isWhole(_ fetched: Fetched) -> Bool {
    fetched.file?.sha256 == Sample.sha256(body) && fetched.record.bytes == body.count
  }

  @Test(arguments: [100, 4_096, 150_000]) func `with a strong validator it is taken up where it broke off`(count: Int) async throws {
    try await fetch([.etag("\"v1\""), .once(.closeEarly(afterBytes: count))]) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(fetched.record.status == 206)
      #expect(fetched.record.attempts == 2)
      #expect(requests.map { $0.field("Range") } == [nil, "bytes=\(count)-"])
      #expect(requests.map { $0.field("If-Range") } == [nil, "\"v1\""])
    }
  }

  @Test func `it may break off again`() async throws {
    try await fetch([.etag("\"v1\""), .times(2, .closeEarly(afterBytes: 60_000))]) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(requests.map { $0.field("Range") } == [nil, "bytes=60000-", "bytes=120000-"])
    }
  }

  @Test(arguments: [[], [Fault.etag("W/\"v1\"")], [.etag("\"v1\""), .header(name: "Accept-Ranges", value: "none")]])
  func `without a strong validator, or without ranges, it begins anew`(_ faults: [Fault]) async throws {
    try await fetch(faults + [.once(.closeEarly(afterBytes: 150_000))]) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(fetched.record.status == 200)
      #expect(requests.map { $0.field("Range") } == [nil, nil])
    }
  }

  @Test func `a file that has changed meanwhile is taken from its start`() async throws {
    let change: [Fault] = [.times(1, .etag("\"v1\"")), .after(1, .etag("\"v2\"")), .once(.closeEarly(afterBytes: 150_000))]
    try await fetch(change) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(fetched.record.status == 200)
      #expect(requests.last?.field("Range") == "bytes=150000-")
    }
  }

  @Test func `an origin that forgets the range is taken from its start`() async throws {
    try await fetch([.once(.etag("\"v1\"")), .once(.closeEarly(afterBytes: 150_000))]) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(requests.last?.field("Range") == "bytes=150000-")
    }
  }

  @Test func `a part of another file is not joined to the first`() async throws {
    let other: [Fault] = [.etag("\"v1\""), .after(1, .header(name: "ETag", value: "\"v2\"")), .once(.closeEarly(afterBytes: 150_000))]
    try await fetch(other) { fetched, _ in
      #expect(fetched.reason == .httpFraming)
    }
  }

  @Test func `a reset of the connection within the body is taken up as well`() async throws {
    try await fetch([.etag("\"v1\""), .once(.reset(afterBytes: 150_000))]) { fetched, requests in
      #expect(Self.isWhole(fetched))
      #expect(requests.count == 2)
    }
  }
}
