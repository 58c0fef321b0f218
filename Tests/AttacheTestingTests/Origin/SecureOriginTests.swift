import AttacheTesting
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

/// TLS with the origin's own root, and HTTP/2.
struct SecureOriginTests {
  @Test(arguments: [nil, "localhost", "media.example"])
  func `who trusts the root is served`(_ name: String?) async throws {
    try await withOrigin(tls: .selfMade(names: ["media.example"])) { origin in
      origin.serve("/photo", photo)
      let response = try await SecureClient.get("/photo", origin, name: name)
      #expect(response.body == photo)
      #expect(origin.url("/photo") == "https://127.0.0.1:\(origin.port)/photo")
      #expect(origin.requests.map(\.httpVersion) == ["1.1"])
    }
  }

  @Test(arguments: [FaultOrigin.TLS.expired, .misnamed("other.example")])
  func `a bad certificate fails the handshake`(_ tls: FaultOrigin.TLS) async throws {
    try await withOrigin(tls: tls) { origin in
      await #expect(throws: (any Error).self) { try await SecureClient.get("/photo", origin, name: "localhost") }
      #expect(origin.requests.isEmpty)
    }
  }

  @Test(arguments: ["good.example\0.evil.example", "ü.example"])
  func `a name that a certificate cannot have is refused`(name: String) async {
    await #expect(throws: OriginError.certificate(reason: "a DNS name has ASCII characters alone, and no zero byte")) {
      try await FaultOrigin.start(tls: .misnamed(name))
    }
  }

  @Test func `a misnamed certificate is good for its own name`() async throws {
    try await withOrigin(tls: .misnamed("other.example")) { origin in
      let response = try await SecureClient.get("/photo", origin, name: "other.example")
      #expect(response.status == 404)
    }
  }

  @Test func `a reset under TLS sends no close_notify`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/photo", photo, faults: [.reset(afterBytes: 512)])
      await #expect { try await SecureClient.get("/photo", origin) } throws: { ($0 as? IOError)?.errnoCode == ECONNRESET }
      #expect(origin.sentBodyBytes(path: "/photo") == 512)
    }
  }

  @Test func `an early close under TLS sends its close_notify`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/photo", photo, faults: [.closeEarly(afterBytes: 512)])
      let response = try await SecureClient.get("/photo", origin)
      #expect(response.body == Array(photo.prefix(512)))
    }
  }

  @Test func `the root's file is removed at the end`() async throws {
    let origin = try await FaultOrigin.start(tls: .selfMade())
    let file = try #require(origin.rootCertificatePEMFile)
    #expect(unsafe access(file, R_OK) == 0)
    await origin.stop()
    #expect(unsafe access(file, R_OK) != 0)
  }

  @Test func `HTTP 2 is served on streams of one connection`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      let large = [UInt8](repeating: 7, count: 1_000_000)
      origin.serve("/photo", photo)
      origin.serve("/large", large)
      origin.serve("/stalled", photo, faults: [.stall(afterBytes: 10)])
      let client = try await StreamClient(origin)
      let stalled = try await client.begin("/stalled")
      await origin.waitForStalls(count: 1, path: "/stalled")
      let response = try await client.get("/photo")
      #expect(response.status == 200 && response.isComplete && response.body == photo)
      #expect(response.fields["content-length"] == ["1000"])
      let whole = try await client.get("/large")
      #expect(whole.body == large)
      origin.release("/stalled")
      let released = try await stalled.get()
      #expect(released.body == photo)
      #expect(origin.connectionCount == 1)
      #expect(Set(origin.requests.map(\.httpVersion)) == ["2"])
      client.channel.close(promise: nil)
    }
  }

  @Test func `a reset over HTTP 2 breaks the stream alone`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/photo", photo, faults: [.once(.reset(afterBytes: 512))])
      let client = try await StreamClient(origin)
      let broken = try await client.get("/photo")
      #expect(broken.body == Array(photo.prefix(512)) && !broken.isComplete && broken.error != nil)
      let next = try await client.get("/photo")
      #expect(next.body == photo)
      #expect(origin.connectionCount == 1)
    }
  }

  @Test func `an early close over HTTP 2 ends the connection`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/photo", photo, faults: [.closeEarly(afterBytes: 512)])
      let client = try await StreamClient(origin)
      let broken = try await client.get("/photo")
      #expect(broken.status == 200 && broken.body == Array(photo.prefix(512)) && !broken.isComplete, "\(broken)")
      await origin.waitForConnections(open: 0)
    }
  }

  @Test func `lengths, statuses and types are as false over HTTP 2`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/long", photo, faults: [.contentLength(tooLongBy: 10)])
      origin.serve("/two", photo, faults: [.twoContentLengths])
      origin.serve("/busy", photo, faults: [.status(503, retryAfter: 2), .contentType("text/html"), .gzip])
      let client = try await StreamClient(origin)
      let long = try await client.get("/long")
      #expect(long.fields["content-length"] == ["1010"] && long.body == photo && long.isComplete)
      let two = try await client.get("/two")
      #expect(two.fields["content-length"] == ["1001", "1000"])
      let busy = try await client.get("/busy")
      #expect(busy.status == 503 && busy.fields["retry-after"] == ["2"] && busy.fields["content-type"] == ["text/html"])
      #expect(busy.fields["content-encoding"] == ["gzip"])
    }
  }

  @Test(arguments: [Fault.notHTTP, .endlessHeaders, .headerFlood(count: 1), .http10, .connectionClose, .once(.notHTTP)])
  func `what needs HTTP 1 is answered with 501`(_ fault: Fault) async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      origin.serve("/photo", photo, faults: [fault])
      let client = try await StreamClient(origin)
      let response = try await client.get("/photo")
      #expect(response.status == 501)
    }
  }
}
