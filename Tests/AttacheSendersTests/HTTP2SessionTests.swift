import Attache
import AttacheQueue
import Testing

@testable import AttacheSenders

/// The frames of a push server, one by one, in the format of RFC 9113 and RFC 7541.
struct HTTP2SessionTests {
  private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
  }

  /// HEADERS with END_HEADERS and END_STREAM; the status is a literal without indexing (RFC 7541,
  /// 6.2.2; `:status` is entry 8).
  private static func headers(status: String) -> [UInt8] {
    frame(1, flags: 5, stream: 1, [8, UInt8(status.utf8.count)] + Array(status.utf8))
  }

  /// How a request with these frames ends.
  private static func ending(_ frames: [UInt8]) throws -> HTTP2Session.Ending? {
    let session = try #require(HTTP2Session(authority: "api.push.example"))
    let settings = frame(4, stream: 0)
    #expect(unsafe settings.withUnsafeBytes { unsafe session.receive($0) } == nil)
    let request = PushRequest(LeaseToken(id: 1, fence: 1), to: .device("00ff"), hasOwnTopic: false, body: Array("{}".utf8))
    #expect(session.submit(request, authorization: nil, at: MonotonicInstant(nanoseconds: 0)))
    #expect(unsafe session.write { $0.count })
    #expect(unsafe frames.withUnsafeBytes { unsafe session.receive($0) } == nil)
    // A stream that breaks a rule ends once RST_STREAM is written.
    #expect(unsafe session.write { $0.count })
    let ended = session.takeEnded()
    #expect(ended.count == 1 && session.openStreams == 0)
    return ended.first?.ending
  }

  @Test(arguments: ["200", "410", "503", "999"])
  func `an answer has its status`(status: String) throws {
    guard case .answered(let number, [], [])? = try Self.ending(Self.headers(status: status)) else { return #expect(Bool(false)) }
    #expect(String(number) == status)
  }

  @Test(arguments: ["020", "000", "099", "20", "2000", "", "+20", "-20", "2 0", "abc", "٢٠٠"])
  func `what is no status of three digits from 100 on is no answer`(status: String) throws {
    guard case .broken? = try Self.ending(Self.headers(status: status)) else { return #expect(Bool(false)) }
  }

  @Test func `an answer without a status is none`() throws {
    // An indexed field alone: `accept-encoding: gzip, deflate` is entry 16.
    guard case .broken? = try Self.ending(Self.frame(1, flags: 5, stream: 1, [0x90])) else { return #expect(Bool(false)) }
  }
}
