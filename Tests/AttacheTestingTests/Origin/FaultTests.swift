import AttacheTesting
import Testing

/// Each fault in the bytes of HTTP/1.1.
struct FaultTests {
  /// Sends one request, the last of the connection, and reads to the end.
  private func ask(_ faults: [Fault], _ fields: String...) async throws -> (response: WireResponse, ending: RawClient.Ending) {
    var result: (response: WireResponse, ending: RawClient.Ending)?
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: faults)
      let client = try RawClient(origin)
      client.write("GET /photo HTTP/1.1\r\nHost: origin\r\nConnection: close\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
      result = client.rest()
    }
    return try #require(result)
  }

  @Test func `without a fault the bytes come with their length`() async throws {
    let (response, ending) = try await ask([])
    #expect(response.statusLine == "HTTP/1.1 200 OK")
    #expect(response.field("Content-Length") == "1000")
    #expect(response.field("Content-Type") == "application/octet-stream")
    #expect(response.body == photo)
    #expect(ending == .closed)
  }

  @Test func `a delay comes before the response`() async throws {
    let start = ContinuousClock.now
    let (response, _) = try await ask([.delay(.milliseconds(30))])
    #expect(response.body == photo)
    #expect(ContinuousClock.now - start >= .milliseconds(30))
  }

  @Test func `a drip takes the time that its rate says`() async throws {
    let start = ContinuousClock.now
    let (response, _) = try await ask([.drip(bytesPerSecond: 10_000)])
    #expect(response.body == photo)
    #expect(ContinuousClock.now - start >= .milliseconds(90))
  }

  @Test func `a drip stops where the body is cut`() async throws {
    let (response, ending) = try await ask([.chunked, .drip(bytesPerSecond: 3_000), .closeEarly(afterBytes: 512)])
    let expected: [UInt8] = Array("12c\r\n".utf8) + photo[..<300] + Array("\r\nd4\r\n".utf8) + photo[300..<512] + Array("\r\n".utf8)
    #expect(response.body == expected)
    #expect(ending == .closed)
  }

  @Test func `a reset comes after exactly so many bytes of the body`() async throws {
    let (response, ending) = try await ask([.reset(afterBytes: 512)])
    #expect(response.field("Content-Length") == "1000")
    #expect(response.body == Array(photo.prefix(512)))
    #expect(ending == .reset)
  }

  @Test func `a reset before the headers leaves not a byte`() async throws {
    let (response, ending) = try await ask([.resetBeforeHeaders])
    #expect(response.statusLine.isEmpty)
    #expect(ending == .reset)
  }

  @Test func `an early close ends the connection in good order`() async throws {
    let (response, ending) = try await ask([.closeEarly(afterBytes: 512)])
    #expect(response.field("Content-Length") == "1000")
    #expect(response.body == Array(photo.prefix(512)))
    #expect(ending == .closed)
  }

  @Test func `a close before the headers leaves not a byte`() async throws {
    let (response, ending) = try await ask([.closeBeforeHeaders])
    #expect(response.statusLine.isEmpty)
    #expect(ending == .closed)
  }

  @Test func `a length that is too long is followed by the body and the close`() async throws {
    let (response, ending) = try await ask([.contentLength(tooLongBy: 10)])
    #expect(response.field("Content-Length") == "1010")
    #expect(response.body == photo)
    #expect(ending == .closed)
  }

  @Test func `a length that is too short is followed by the whole body`() async throws {
    let (response, _) = try await ask([.contentLength(tooShortBy: 10)])
    #expect(response.field("Content-Length") == "990")
    #expect(response.body == photo)
  }

  @Test func `two lengths contradict each other`() async throws {
    let (response, _) = try await ask([.twoContentLengths])
    #expect(response.values("Content-Length") == ["1001", "1000"])
    #expect(response.body == photo)
  }

  @Test func `without a length the close ends the body`() async throws {
    let (response, ending) = try await ask([.noContentLength])
    #expect(response.field("Content-Length") == nil && response.field("Transfer-Encoding") == nil)
    #expect(response.body == photo)
    #expect(ending == .closed)
  }

  @Test func `chunks carry the body and an end`() async throws {
    let (response, _) = try await ask([.chunked])
    #expect(response.field("Transfer-Encoding") == "chunked" && response.field("Content-Length") == nil)
    let expected: [UInt8] = Array("3e8\r\n".utf8) + photo + Array("\r\n0\r\n\r\n".utf8)
    #expect(response.body == expected)
  }

  @Test func `a chunked body stalls between two chunks`() async throws {
    let (response, _) = try await ask([.chunked, .closeEarly(afterBytes: 16)])
    let expected: [UInt8] = Array("10\r\n".utf8) + photo.prefix(16) + Array("\r\n".utf8)
    #expect(response.body == expected)
  }

  @Test func `a status keeps the body and may say when to come again`() async throws {
    let (response, _) = try await ask([.status(503, retryAfter: 1)])
    #expect(response.status == 503)
    #expect(response.field("Retry-After") == "1")
    #expect(response.body == photo)
  }

  @Test func `a status that allows no body has none`() async throws {
    let (response, _) = try await ask([.status(204)])
    #expect(response.statusLine == "HTTP/1.1 204 No Content")
    #expect(response.field("Content-Length") == nil && response.body.isEmpty)
  }

  @Test func `a redirect names its target and has no body`() async throws {
    let (response, _) = try await ask([.redirect(to: "http://10.0.0.1/", status: 307)])
    #expect(response.status == 307)
    #expect(response.field("Location") == "http://10.0.0.1/")
    #expect(response.body.isEmpty)
  }

  @Test func `a loop redirects to itself`() async throws {
    let (response, _) = try await ask([.redirectLoop])
    #expect(response.status == 302)
    #expect(response.field("Location") == "/photo")
  }

  @Test func `gzip comes although nobody asked`() async throws {
    let (response, _) = try await ask([.gzip])
    #expect(response.field("Content-Encoding") == "gzip")
    // Ten bytes of header, five of the block's, the photo, eight of trailer.
    #expect(response.body.count == 1023)
    #expect(response.body.prefix(3).elementsEqual([0x1f, 0x8b, 8]))
    #expect(response.body[15..<1015].elementsEqual(photo))
  }

  @Test func `fields and types are sent as told`() async throws {
    let (response, _) = try await ask([.contentType("text/html"), .header(name: "Cache-Control", value: "max-age=60")])
    #expect(response.values("Content-Type") == ["text/html"])
    #expect(response.field("Cache-Control") == "max-age=60")
  }

  @Test func `a flood of fields comes before the response's own`() async throws {
    let (response, _) = try await ask([.headerFlood(count: 300)])
    #expect(response.fields.count { $0.name.hasPrefix("X-Flood-") } == 300)
    #expect(response.fields.last?.name == "Content-Length")
    #expect(response.body == photo)
  }

  @Test func `garbage is the banner of an SSH server`() async throws {
    let (response, ending) = try await ask([.notHTTP])
    #expect(response.statusLine.hasPrefix("SSH-2.0-"))
    #expect(ending == .closed)
  }

  @Test func `faults combine`() async throws {
    let (response, ending) = try await ask([.status(502), .chunked, .contentType("text/html"), .reset(afterBytes: 8)])
    #expect(response.status == 502)
    #expect(response.field("Content-Type") == "text/html")
    let expected: [UInt8] = Array("8\r\n".utf8) + photo.prefix(8) + Array("\r\n".utf8)
    #expect(response.body == expected)
    #expect(ending == .reset)
  }

  @Test(arguments: [Fault.http10, .connectionClose])
  func `the origin closes although the request would keep the connection`(_ fault: Fault) async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [fault])
      let client = try RawClient(origin)
      client.get("/photo")
      let (response, ending) = client.rest()
      #expect(response.statusLine == (fault == .http10 ? "HTTP/1.0 200 OK" : "HTTP/1.1 200 OK"))
      #expect(response.field("Connection") == (fault == .http10 ? nil : "close"))
      #expect(response.body == photo)
      #expect(ending == .closed)
    }
  }

  @Test func `chunks without an end are cut by the client alone`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.endlessChunks])
      let client = try RawClient(origin)
      client.get("/photo")
      #expect(client.response().field("Transfer-Encoding") == "chunked")
      #expect(client.read(2_000_000).count == 2_000_000)
    }
  }

  @Test func `a header without an end is cut by the client alone`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.endlessHeaders])
      let client = try RawClient(origin)
      client.get("/photo")
      let text = String(decoding: client.read(1_000_000), as: UTF8.self)
      #expect(text.utf8.count == 1_000_000)
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && !text.contains("\r\n\r\n"))
    }
  }

  @Test func `a chain redirects so often and then serves`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.redirectChain(hops: 2)])
      let client = try RawClient(origin)
      var statuses: [Int?] = []
      var target: String? = "/photo"
      while let next = target {
        client.get(next)
        let response = client.response()
        statuses.append(response.status)
        target = response.field("Location")
        if target == nil { #expect(response.body == photo) }
      }
      #expect(statuses == [302, 302, 200])
    }
  }

  @Test func `a fault for the first requests is over after them`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.times(2, .status(503)), .after(3, .status(404))])
      let client = try RawClient(origin)
      let statuses = (1...4).map { _ in
        client.get("/photo")
        return client.response().status
      }
      #expect(statuses == [503, 503, 200, 404])
      #expect(origin.connectionCount == 1)
    }
  }
}
