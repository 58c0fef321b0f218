@testable import AttacheMetrics
import Testing

/// How the server of metrics responds to the bytes of a client.
struct MetricsResponseTests {
  private final class Pages: MetricsPages {
    let text = "x 1\n"
    let liveness = ProcessHealth.good
    let readiness = ProcessHealth.bad("not yet")
  }

  @Test(
    arguments: [
      ("GET /metrics HTTP/1.1\r\n\r\n", 200), ("GET /livez?x HTTP/1.0\n\n", 200),
      ("GET http://host/livez HTTP/1.1\r\nA: b\r\n\r\nmore", 200),
      ("GET /readyz HTTP/1.1\r\n\r\n", 503), ("PUT /metrics HTTP/1.1\r\n\r\n", 405), ("GET /other HTTP/1.1\r\n\r\n", 404),
      ("GET livez HTTP/1.1\r\n\r\n", 400), ("GET  /livez HTTP/1.1\r\n\r\n", 400), ("\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\n\n", 400),
      ("GET /livez SPDY/3\r\n\r\n", 400), ("GET /livez HTTP/1.1\r\n", nil), ("", nil), (String(repeating: "x", count: 8_192), nil),
      (String(repeating: "x", count: 8_193), 431), (String(repeating: "x", count: 8_191) + "\r\n\r\n\r\n", 431),
    ] as [(String, Int?)])
  func `a complete head gets its response, and a head that is too long is refused`(head: String, status: Int?) {
    let response = MetricsResponse(to: Array(head.utf8), nil, Pages())
    #expect(response.map { String(decoding: $0.bytes.prefix(13), as: UTF8.self) } == status.map { "HTTP/1.1 \($0) " })
  }

  @Test func `the body follows the head, and HEAD gets none`() {
    func body(_ method: String) -> [Substring]? {
      MetricsResponse(to: Array("\(method) /metrics HTTP/1.1\r\n\r\n".utf8), nil, Pages()).map {
        String(decoding: $0.bytes, as: UTF8.self).split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
      }
    }
    #expect(body("GET")?.last == "x 1\n")
    #expect(body("GET")?.first?.contains("Content-Length: 4\r\n") == true)
    #expect(body("HEAD")?.last == "")
  }
}
