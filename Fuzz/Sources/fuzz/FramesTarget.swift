internal import Glibc

@testable import Attache

/// What a fetcher that a stranger has taken over sends to its host, and the same bytes as what a
/// host sends: frames, in pieces.
///
/// - However the bytes are cut into pieces, the same frames come out, up to the same fault.
/// - A frame that is taken means the same when it is written and read again.
/// - The numbers of a reply are within their bounds, and its texts have no control characters.
struct FramesTarget: Target {
  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    let seed = input.byte()
    let whole = frames(Pieces(of: input.rest, seed: 0, largest: 0))
    let cut = frames(Pieces(of: input.rest, seed: seed, largest: 40))
    check(whole.frames == cut.frames && whole.isInvalid == cut.isInvalid, "the same frames come out: \(whole), \(cut)")
    for frame in whole.frames {
      if let reply = try? FetcherFrame.reply(frame[...]) { judge(reply) }
      if let request = try? FetcherFrame.request(frame[...]) { judge(request) }
    }
  }

  /// Sends the pieces to a connection, and reads behind each.
  private func frames(_ pieces: Pieces) -> (frames: [[UInt8]], isInvalid: Bool) {
    guard let (own, other) = try? SocketStream.pair() else { fatalError("broken promise: there are two sockets") }
    defer { close(other) }
    var stream = FrameStream(SocketStream(own), maximumFrame: FetcherFrame.maximumBytes)
    var frames: [[UInt8]] = []
    do throws(FrameStream.Fault) {
      for piece in pieces {
        let sent = unsafe piece.withUnsafeBytes { unsafe write(other, $0.baseAddress, $0.count) }
        check(sent == piece.count, "a connection takes \(piece.count) bytes")
        while try stream.receive({ (frame) throws(FrameStream.Fault) in frames.append(Array(frame)) }) {}
      }
    } catch {
      if case .invalid = error { return (frames, true) }
      check(false, "a connection that is open has not ended")
    }
    return (frames, false)
  }

  private func judge(_ reply: FetcherReply) {
    var bytes: [UInt8] = []
    FetcherFrame.append(reply, to: &bytes)
    let again = try? FetcherFrame.reply(bytes[...])
    check(again == reply, "a reply means the same when it is written again: \(reply)")
    check(bytes.count <= FetcherFrame.maximumBytes, "a reply has its bound")
    switch reply {
    case .fetched(let result):
      check(0...FetchProgress.maximumBytes ~= result.added, "what was added is a size: \(result)")
      check(0...Int(FetchProgress.maximumBytes) ~= result.progress.bytes, "what arrived is a size: \(result)")
      switch result.end {
      case .stored(let file, _): check(0...Int(FetchProgress.maximumBytes) ~= file.size, "a file has a size: \(result)")
      case .failed(let failure): judge(text: failure.message)
      }
    case .closed(let text), .failed(let text), .survived(let text): judge(text: text)
    case .ready(let missing): check(FetcherBounds.Missing.all.isSuperset(of: missing), "what is missing has a name")
    case .left, .alive, .converts, .load: break
    }
  }

  private func judge(_ request: FetcherRequest) {
    var bytes: [UInt8] = []
    FetcherFrame.append(request, to: &bytes)
    let again = try? FetcherFrame.request(bytes[...])
    check(again == request, "a request means the same when it is written again: \(request)")
  }

  private func judge(text: String) {
    check(text.utf8.count <= FetcherFrame.maximumMessage, "a message has its bound")
    check(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a message has no control characters: \(text)")
  }
}
