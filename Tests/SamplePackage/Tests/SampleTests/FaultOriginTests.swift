import AttacheTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A download of one's own against an origin that misbehaves.
@Suite(.timeLimit(.minutes(1)))
struct FaultOriginTests {
  private func status(of url: String, within seconds: TimeInterval) async throws -> Int? {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.timeoutInterval = seconds
    let (_, response) = try await URLSession.shared.data(for: request)
    return (response as? HTTPURLResponse)?.statusCode
  }

  @Test func `a download that stalls is given up`() async throws {
    let origin = try await FaultOrigin.start()
    origin.serve("/photo.jpg", try StandIn.bytes(ofType: "jpg", size: 20_000), faults: [.stall(afterBytes: 512)])
    await #expect(throws: URLError.self) { try await status(of: origin.url("/photo.jpg"), within: 1) }
    #expect(origin.requestCount(path: "/photo.jpg") == 1)
    await origin.stop()
  }

  @Test func `a gateway that fails once is seen to`() async throws {
    let origin = try await FaultOrigin.start()
    origin.serve("/photo.jpg", try StandIn.bytes(ofType: "jpg", size: 20_000), faults: [.once(.status(502))])
    #expect(try await status(of: origin.url("/photo.jpg"), within: 20) == 502)
    #expect(try await status(of: origin.url("/photo.jpg"), within: 20) == 200)
    await origin.stop()
  }
}
