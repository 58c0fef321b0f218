import AttacheTesting
import Testing

/// Entity tags, conditions on them and ranges.
struct ValidatorTests {
  private func ask(_ tag: String, _ fields: String...) async throws -> WireResponse {
    var response: WireResponse?
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.etag(tag)])
      let client = try RawClient(origin)
      client.write("GET /photo HTTP/1.1\r\nHost: origin\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
      response = client.response()
    }
    return try #require(response)
  }

  @Test func `the tag comes with the whole`() async throws {
    let response = try await ask("\"v1\"")
    #expect(response.status == 200)
    #expect(response.field("ETag") == "\"v1\"")
    #expect(response.body == photo)
  }

  @Test(arguments: ["\"v1\"", "\"v0\", W/\"v1\"", "*"])
  func `the same tag is answered with 304`(_ list: String) async throws {
    let response = try await ask("\"v1\"", "If-None-Match: \(list)")
    #expect(response.status == 304)
    #expect(response.field("ETag") == "\"v1\"")
    #expect(response.field("Content-Length") == nil)
  }

  @Test func `another tag is answered with the whole`() async throws {
    let response = try await ask("\"v2\"", "If-None-Match: \"v1\"")
    #expect(response.body == photo)
  }

  @Test(arguments: [("bytes=512-", 512..<1000), ("bytes=0-0", 0..<1), ("bytes=990-2000", 990..<1000), ("bytes=-10", 990..<1000)])
  func `a range is answered with its part`(_ range: String, _ expected: Range<Int>) async throws {
    let response = try await ask("\"v1\"", "Range: \(range)", "If-Range: \"v1\"")
    #expect(response.status == 206)
    #expect(response.field("Content-Range") == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/1000")
    #expect(response.body == Array(photo[expected]))
  }

  @Test(arguments: ["Range: bytes=512-\r\nIf-Range: \"v0\"", "Range: bytes=0-1,5-6", "Range: lines=1-2", "Range: bytes=9-2"])
  func `a range that does not hold is answered with the whole`(_ fields: String) async throws {
    let response = try await ask("\"v1\"", fields)
    #expect(response.status == 200)
    #expect(response.body == photo)
  }

  @Test func `a weak tag holds for no range`() async throws {
    let response = try await ask("W/\"v1\"", "Range: bytes=512-", "If-Range: W/\"v1\"")
    #expect(response.status == 200)
  }

  @Test(arguments: ["bytes=1000-", "bytes=-0"])
  func `a range beyond the end cannot be satisfied`(_ range: String) async throws {
    let response = try await ask("\"v1\"", "Range: \(range)")
    #expect(response.status == 416)
    #expect(response.field("Content-Range") == "bytes */1000")
  }

  @Test func `a broken-off body is resumed`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.etag("\"v1\""), .once(.closeEarly(afterBytes: 512))])
      let first = try RawClient(origin)
      first.get("/photo")
      let second = try RawClient(origin)
      let begun = first.rest().response.body
      second.get("/photo", "Range: bytes=\(begun.count)-", "If-Range: \"v1\"")
      #expect(begun + second.response().body == photo)
    }
  }
}
