import CFetcher
import Testing

@testable import Attache

@Suite struct FetcherFrameTests {
  static let progress: FetchProgress = {
    var progress = FetchProgress()
    (progress.status, progress.bytes, progress.type, progress.cache, progress.attempts) = (200, 5_000, .png, .revalidated, 2)
    progress.timing = MediaRecord.Timing(dns: .milliseconds(1), connect: .milliseconds(2), firstByte: .microseconds(3))
    progress.timing.wait = .zero
    return progress
  }()

  static let requests: [FetcherRequest] = [
    .fetch(1, place: 16_384, payload: 3, deadline: .distantPast, isRefused: false, fields: [], url: "https://cdn.example/ä?b"),
    .fetch(.max, place: 0, payload: 0, deadline: .distantFuture, isRefused: true, fields: ["A: b", "Cookie: a=b"], url: "http://a/"),
    .extend(.max, payload: .max, deadline: .distantFuture), .cancel(7),
    .pulse(0),
    .close,
  ]

  static let replies: [FetcherReply] = [
    .fetched(
      FetcherResult(
        fetch: 3, progress: progress, health: OriginHealth(.life, since: MonotonicInstant(nanoseconds: 5)),
        end: .stored(StoredFile(StoreName(words: HashWords(1, 2, .max), type: .avi), size: 5_000), keptUntil: nil),
        added: 5_000
      )),
    .fetched(
      FetcherResult(
        fetch: 4, progress: FetchProgress(),
        end: .stored(StoredFile(StoreName(words: HashWords(), type: .jpeg), size: 1), keptUntil: .distantFuture),
        added: 0)),
    .fetched(FetcherResult(fetch: .max, progress: progress, end: .failed(FetchFailure(reason: .internal, message: "ü")), added: 0)),
    .ready([]), .ready(.all), .converts(7, milliseconds: .max), .load(milliseconds: .max), .left(9, OriginHealth()),
    .left(.max, OriginHealth(.silence, since: MonotonicInstant(nanoseconds: -7))),
    .alive(2),
    .closed(warning: ""), .closed(warning: "begun anew"),
    .failed("no memory"), .survived("epoll_ctl"),
  ]

  @Test(arguments: requests) func `a request comes out as it went in`(request: FetcherRequest) throws {
    #expect(try FetcherFrame.request(Self.frame { FetcherFrame.append(request, to: &$0) }) == request)
  }

  @Test(arguments: replies) func `a reply comes out as it went in`(reply: FetcherReply) throws {
    #expect(try FetcherFrame.reply(Self.frame { FetcherFrame.append(reply, to: &$0) }) == reply)
  }

  @Test(arguments: Reason.allCases) func `a reason that a fetch can have goes through a frame, and no other`(reason: Reason) throws {
    let reply = FetcherReply.fetched(
      FetcherResult(fetch: 1, progress: FetchProgress(), end: .failed(FetchFailure(reason: reason)), added: 0))
    let others: [Reason] = [.deadline, .policyAttachments]
    let isOther = others.contains(reason) || ["payload.", "queue.", "extension.", "upload."].contains(where: reason.rawValue.hasPrefix)
    #expect((try? FetcherFrame.reply(Self.frame { FetcherFrame.append(reply, to: &$0) })) == (isOther ? nil : reply))
  }

  @Test func `a fetcher's message cannot change the direction of a log's line`() throws {
    let reply = FetcherReply.survived("a\u{202E}b")
    #expect(try FetcherFrame.reply(Self.frame { FetcherFrame.append(reply, to: &$0) }) == .survived("a\\u{202e}b"))
  }

  @Test(arguments: replies) func `what is left of a reply that is cut, or followed by more, is a reply or refused`(reply: FetcherReply) {
    let bytes = Self.frame { FetcherFrame.append(reply, to: &$0) }
    for end in bytes.indices { Self.checkReply(bytes[..<end]) }
    Self.checkReply(bytes + [0])
  }

  @Test func `numbers that cannot be are refused`() throws {
    let stored = Self.frame { FetcherFrame.append(Self.replies[0], to: &$0) }
    let raw = 1 + MemoryLayout.size(ofValue: FetchProgress().raw(of: 0))
    // The number of added bytes, and the health.
    let health = 8 + 9
    for (place, byte) in [(0, 99), (raw + 7, 0x80), (raw + 8, 4), (raw + health, 12), (raw + health + 1 + 32 + 7, 0x80)] as [(Int, UInt8)] {
      var bytes = Array(stored)
      bytes[place] = byte
      #expect(throws: FrameStream.Fault.invalid) { try FetcherFrame.reply(bytes[...]) }
    }
    let failed = Self.frame { FetcherFrame.append(Self.replies[2], to: &$0) }
    for (place, byte) in [(raw + health + 2, 0xff), (raw + health + 3, 2), (raw + health + 4, 0xff)] as [(Int, UInt8)] {
      var bytes = Array(failed)
      bytes[place] = byte
      #expect(throws: FrameStream.Fault.invalid) { try FetcherFrame.reply(bytes[...]) }
    }
  }

  @Test func `a request is refused by the breaker or not, and nothing else`() throws {
    var bytes = Array(Self.frame { FetcherFrame.append(Self.requests[0], to: &$0) })
    bytes[1 + 8 + 4 + 8 + 8] = 2
    #expect(throws: FrameStream.Fault.invalid) { try FetcherFrame.request(bytes[...]) }
  }

  @Test func `any bytes are a reply, a request, or refused`() {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...200)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...6) }
      Self.checkReply(bytes[...])
      if let request = try? FetcherFrame.request(bytes[...]) {
        #expect(Self.frame { FetcherFrame.append(request, to: &$0) }.elementsEqual(bytes))
      }
    }
  }

  @Test func `a message is cut, and has no control characters`() throws {
    let text = "a\u{1B}[2J\n" + String(repeating: "ä", count: 2_000)
    let frame = Self.frame { FetcherFrame.append(.failed(text), to: &$0) }
    guard case .failed(let message) = try FetcherFrame.reply(frame) else {
      Issue.record("another reply")
      return
    }
    #expect(message.hasPrefix("a\u{FFFD}[2J\u{FFFD}ää"))
    #expect(message.utf8.count <= FetcherFrame.maximumMessage)
  }

  @Test func `a stream hands on whole frames, however they come`() throws {
    let (one, other) = try SocketStream.pair()
    let connection = SocketStream(one)
    var sender = FrameStream(connection, maximumFrame: FetcherFrame.maximumBytes)
    var receiver = FrameStream(SocketStream(other), maximumFrame: FetcherFrame.maximumBytes)
    for request in Self.requests { sender.gather { FetcherFrame.append(request, to: &$0) } }
    try sender.flush()
    var taken: [FetcherRequest] = []
    try receiver.receive { bytes throws(FrameStream.Fault) in
      taken.append(try FetcherFrame.request(bytes))
    }
    #expect(taken == Self.requests)
    let length: [UInt8] = [0xff, 0xff, 0xff, 0x7f]
    #expect(unsafe length.withUnsafeBytes { unsafe connection.write($0) } == length.count)
    #expect(throws: FrameStream.Fault.invalid) { try receiver.receive { _ in } }
  }

  @Test func `what another process says of a fetch is taken within bounds`() {
    var raw = FetchProgress().raw(of: 5)
    (raw.bytes, raw.status, raw.attempts, raw.type, raw.cache, raw.awaited, raw.places) = (.min, -1, .min, 255, 255, 255, .min)
    (raw.wait, raw.dns, raw.waiting_since) = (.min, .max, .min)
    var record = MediaRecord(url: "")
    FetchProgress(raw).report(to: &record, at: .now)
    #expect(record.bytes == 0)
    #expect(record.status == nil)
    #expect(record.type == nil)
    #expect(record.timing.wait == nil)
  }

  /// Expects that bytes accepted as a reply mean the same after they are encoded again.
  private static func checkReply(_ bytes: ArraySlice<UInt8>) {
    guard let reply = try? FetcherFrame.reply(bytes) else { return }
    #expect((try? FetcherFrame.reply(frame { FetcherFrame.append(reply, to: &$0) })) == reply)
  }

  /// The content of a frame.
  private static func frame(_ append: (inout [UInt8]) -> Void) -> ArraySlice<UInt8> {
    var bytes: [UInt8] = []
    append(&bytes)
    return bytes[...]
  }
}
