import Attache
import AttacheTesting
import Testing

/// The events that an origin records and that a test can wait for.
struct OriginEventTests {
  @Test func `requests are recorded as they came`() async throws {
    try await withOrigin { origin in
      let before = MonotonicInstant.now
      let client = try RawClient(origin)
      client.get("/a?b=c", "X-One: 1", method: "HEAD")
      await origin.waitForRequests(count: 1, path: "/a")
      let request = try #require(origin.requests.first)
      #expect(request.method == "HEAD" && request.target == "/a?b=c" && request.path == "/a")
      #expect(request.field("x-one") == "1" && request.field("Host") == "origin" && request.field("X-Two") == nil)
      #expect(request.connection == 1 && request.httpVersion == "1.1")
      #expect(request.arrival >= before && request.arrival <= .now)
    }
  }

  @Test func `an unknown path is not found`() async throws {
    try await withOrigin { origin in
      let client = try RawClient(origin)
      client.get("/nothing")
      #expect(client.response().status == 404)
    }
  }

  @Test func `what is no request is answered with 400`() async throws {
    try await withOrigin { origin in
      let client = try RawClient(origin)
      client.write("\u{16}\u{3}\u{1} no request\r\n\r\n")
      #expect(client.rest().response.status == 400)
    }
  }

  @Test func `HEAD has the fields and no body`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo)
      let client = try RawClient(origin)
      client.get("/photo", "Connection: close", method: "HEAD")
      let (response, _) = client.rest()
      #expect(response.field("Content-Length") == "1000" && response.body.isEmpty)
    }
  }

  @Test func `requests sent ahead are answered in their order`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", [1], faults: [.delay(.milliseconds(5))])
      origin.serve("/b", [2])
      let client = try RawClient(origin)
      client.get("/a")
      client.get("/b")
      #expect(client.response().body == [1])
      #expect(client.response().body == [2])
      #expect(origin.connectionCount == 1)
    }
  }

  @Test func `a stall before the headers ends with the release`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.stallBeforeHeaders])
      let client = try RawClient(origin)
      client.get("/photo")
      await origin.waitForStalls(count: 1, path: "/photo")
      origin.release("/photo")
      #expect(client.response().body == photo)
    }
  }

  @Test func `a stall in the body comes after exactly so many bytes`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.stall(afterBytes: 512)])
      let client = try RawClient(origin)
      client.get("/photo", "Connection: close")
      await origin.waitForStalls(count: 1, path: "/photo")
      #expect(origin.sentBodyBytes(path: "/photo") == 512)
      origin.release("/photo")
      #expect(client.rest().response.body == photo)
      #expect(origin.sentBodyBytes(path: "/photo") == 1000)
    }
  }

  @Test func `a release holds for stalls to come`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.stallBeforeHeaders])
      origin.release("/photo")
      let client = try RawClient(origin)
      client.get("/photo")
      #expect(client.response().body == photo)
    }
  }

  @Test func `connections are counted as they open and close`() async throws {
    try await withOrigin { origin in
      let kept = try RawClient(origin)
      do {
        let closed = try RawClient(origin)
        closed.get("/")
        await origin.waitForConnections(accepted: 2)
        #expect(origin.openConnections == 2)
      }
      await origin.waitForConnections(closed: 1)
      await origin.waitForConnections(open: 1)
      #expect(origin.connectionCount == 2 && origin.openConnections == 1)
      kept.get("/")
      #expect(kept.response().status == 404)
    }
  }

  @Test func `a client that leaves a stall behind is noticed`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo", photo, faults: [.stallBeforeHeaders])
      do {
        let client = try RawClient(origin)
        client.get("/photo")
        await origin.waitForStalls(count: 1, path: "/photo")
      }
      await origin.waitForConnections(open: 0)
      origin.release("/photo")
      #expect(origin.sentBodyBytes(path: "/photo") == 0)
    }
  }

  @Test func `who waits goes on when the origin stops or the task is cancelled`() async throws {
    let origin = try await FaultOrigin.start()
    async let stopped: Void = origin.waitForRequests(count: 1)
    let cancelled = Task { await origin.waitForRequests(count: 1) }
    cancelled.cancel()
    await cancelled.value
    await origin.stop()
    await stopped
    await origin.stop()
    #expect(origin.requestCount() == 0, "the origin did not continue for a request")
  }

  @Test func `500 stalled connections do not hold up 500 others`() async throws {
    try await withOrigin { origin in
      origin.serve("/stalled", photo, faults: [.stallBeforeHeaders])
      origin.serve("/photo", photo)
      let stalled = try (0..<500).map { _ in try RawClient(origin) }
      for client in stalled { client.get("/stalled") }
      await origin.waitForStalls(count: 500, path: "/stalled")
      for _ in 0..<500 {
        let client = try RawClient(origin)
        client.get("/photo")
        #expect(client.response().body == photo)
      }
      origin.release("/stalled")
      for client in stalled { #expect(client.response().body == photo) }
    }
  }

  @Test func `a silent origin accepts and never speaks`() async throws {
    try await withOrigin(connectionFault: .silence) { origin in
      do {
        let client = try RawClient(origin)
        client.get("/")
        await origin.waitForConnections(accepted: 1)
      }
      await origin.waitForConnections(closed: 1)
      #expect(origin.requests.isEmpty)
    }
  }

  @Test func `an origin may reset every connection`() async throws {
    try await withOrigin(connectionFault: .reset) { origin in
      let client = try RawClient(origin)
      client.get("/")
      #expect(client.rest().ending == .reset)
    }
  }

  @Test func `a port that is taken is an error`() async throws {
    try await withOrigin { origin in
      await #expect { try await FaultOrigin.start(port: origin.port) } throws: { error in
        if case OriginError.port(origin.port, _) = error { true } else { false }
      }
    }
  }
}
