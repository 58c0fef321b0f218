import Synchronization
import Testing

@testable import Attache

/// Responses that no correct server sends.
@Suite(.timeLimit(.minutes(1))) struct FetchRawTests {
  private static let endless = [UInt8](repeating: 0x41, count: 65_536)

  private func fetch(_ head: String, _ body: [UInt8] = [], thenForEver piece: [UInt8] = []) async throws -> Fetched {
    let origin = try RawOrigin(Array(head.utf8) + body, thenForEver: piece)
    defer { withExtendedLifetime(origin) {} }
    let fetched = Mutex<Fetched?>(nil)
    try await withFetchStage { stage in
      let end = await stage.fetch(origin.url)
      fetched.withLock { $0 = end }
    }
    return try #require(fetched.withLock { $0 })
  }

  @Test func `a flood after another protocol was agreed to is no body`() async throws {
    let fetched = try await fetch("HTTP/1.1 101 Switching Protocols\r\n\r\n", thenForEver: Self.endless)
    #expect(fetched.reason == .httpProtocol)
    #expect(fetched.record.bytes == 0)
  }

  @Test func `a flood behind an error page's short length is not read`() async throws {
    let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n"
    let fetched = try await fetch(head, thenForEver: Array("10000\r\n".utf8) + Self.endless + Array("\r\n".utf8))
    #expect(fetched.reason == .httpStatus)
    #expect(fetched.record.bytes == 0)
  }

  @Test func `a time that no clock holds is not waited for`() async throws {
    let fetched = try await fetch("HTTP/1.1 503 Later\r\nRetry-After: 9300000000\r\nContent-Length: 0\r\n\r\n")
    #expect(fetched.reason == .httpStatus)
    #expect(fetched.record.attempts == 1)
  }
}
