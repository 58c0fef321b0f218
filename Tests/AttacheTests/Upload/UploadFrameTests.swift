import Testing

@testable import Attache

@Suite struct UploadFrameTests {
  static let requests: [UploadRequest] = [
    .probe(1, deadline: .distantFuture), .extend(.max, deadline: MonotonicInstant(nanoseconds: -7)),
    .upload(2, file: StoredFile(StoreName(words: HashWords(1, 2, 3), type: .gif), size: 5_000), deadline: .distantPast),
  ]

  static let replies: [UploadReply] = [
    .published(3, youth: .seconds(7)), .failed(.max, isRefused: true, explanation: "no"),
    .failed(0, isRefused: false, explanation: ""), .notice("a note"),
  ]

  @Test(arguments: requests) func `a request comes out as it went in, and nothing shorter or longer`(request: UploadRequest) throws {
    let bytes = UploadFrame.bytes(of: request)
    #expect(try UploadFrame.request(bytes[...]) == request)
    for other in bytes.indices.map({ bytes[..<$0] }) + [bytes[...] + [0]] {
      #expect(throws: FrameStream.Fault.invalid) { try UploadFrame.request(other) }
    }
  }

  @Test(arguments: replies) func `a reply comes out as it went in`(reply: UploadReply) throws {
    #expect(try UploadFrame.reply(UploadFrame.bytes(of: reply)[...]) == reply)
  }

  @Test func `an uploader's text is printable and has its bound`() throws {
    let bytes = UploadFrame.bytes(of: .notice("ä\n" + String(repeating: "a", count: 2_000)))
    guard case .notice(let text) = try UploadFrame.reply(bytes[...]) else { return #expect(Bool(false)) }
    #expect(text.hasPrefix("???aaa") && text.utf8.count == 900 && bytes.count <= MessageSocket.maximumBytes)
    #expect(throws: FrameStream.Fault.invalid) { try UploadFrame.reply([5, 0, 0, 0, 0, 0, 0, 0, 0]) }
  }
}
