import AttacheTesting
import Synchronization
import Testing

@testable import Attache

/// Bytes after a body are never the response to another request.
@Suite(.timeLimit(.minutes(1))) struct FetchSurplusTests {
  /// A complete response without a request.
  private static let poison = Array("HTTP/1.1 200 OK\r\nContent-Length: \(Sample.mp3.count)\r\n\r\n".utf8) + Sample.mp3

  /// An HTTP/1.1 origin and the requests that it has finished.
  private func withOrigin(
    _ tls: FaultOrigin.TLS, faults: [Fault], _ body: (FetchStage, FaultOrigin, AsyncStream<Void>) async throws -> Void
  ) async throws {
    let (finished, continuation) = AsyncStream<Void>.makeStream()
    let origin = try await FaultOrigin.start(tls: tls, http2: false, connectionFault: nil) { event in
      if case .finished("/a") = event { continuation.yield() }
    }
    origin.serve("/a", Sample.png + Self.poison, faults: [.contentLength(tooShortBy: Self.poison.count)] + faults)
    origin.serve("/b", Sample.png)
    try await withFetchStage { configuration in
      configuration.rootCertificates = origin.rootCertificatePEMFile
    } _: { stage in
      try await body(stage, origin, finished)
    }
    await origin.stop()
  }

  @Test(arguments: [FaultOrigin.TLS.none, .selfMade()])
  func `a response that nobody asked for does not answer the next request`(_ tls: FaultOrigin.TLS) async throws {
    try await withOrigin(tls, faults: [.stall(afterBytes: Sample.png.count)]) { stage, origin, finished in
      #expect(await stage.fetch(origin.url("/a")).file?.sha256 == Sample.sha256(Sample.png))
      origin.release("/a")
      for await _ in finished { break }
      let next = await stage.fetch(origin.url("/b"))
      #expect(next.file?.sha256 == Sample.sha256(Sample.png))
      #expect(next.record.attempts == 1)
      #expect(origin.connectionCount == 2)
    }
  }

  @Test(arguments: [FaultOrigin.TLS.none, .selfMade()])
  func `a connection that brought more than the length says does not serve again`(_ tls: FaultOrigin.TLS) async throws {
    try await withOrigin(tls, faults: []) { stage, origin, finished in
      #expect(await stage.fetch(origin.url("/a")).file?.sha256 == Sample.sha256(Sample.png))
      for await _ in finished { break }
      #expect(await stage.fetch(origin.url("/b")).file?.sha256 == Sample.sha256(Sample.png))
      #expect(origin.connectionCount == 2)
    }
  }
}
