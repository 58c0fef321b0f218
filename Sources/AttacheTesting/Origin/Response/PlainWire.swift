internal import NIOCore

/// Writes HTTP/1 as bytes, so that every fault is exact.
final class PlainWire: ResponseWire {
  private let channel: any Channel
  private var isChunked = false

  init(channel: any Channel) {
    self.channel = channel
  }

  var eventLoop: any EventLoop { channel.eventLoop }
  var connection: (any Channel)? { channel }

  func write(_ head: ResponseScript.Head, isOpen: Bool, flushes: Bool) -> EventLoopFuture<Void> {
    isChunked = head.framing == .chunked
    let bytes = ByteBuffer(string: head.lines(isStream: false) + (isOpen ? "" : "\r\n"))
    return flushes ? channel.writeAndFlush(bytes) : channel.write(bytes)
  }

  func write(raw bytes: ByteBuffer) -> EventLoopFuture<Void> {
    channel.writeAndFlush(bytes)
  }

  func write(body bytes: ByteBuffer) -> EventLoopFuture<Void> {
    guard isChunked else { return channel.writeAndFlush(bytes) }
    channel.write(ByteBuffer(string: String(bytes.readableBytes, radix: 16) + "\r\n"), promise: nil)
    channel.write(bytes, promise: nil)
    return channel.writeAndFlush(ByteBuffer(string: "\r\n"))
  }

  func end() -> EventLoopFuture<Void> {
    isChunked ? channel.writeAndFlush(ByteBuffer(string: "0\r\n\r\n")) : eventLoop.makeSucceededVoidFuture()
  }

  func reset() {
    ConnectionTap.reset(channel)
  }

  func close() {
    channel.close(promise: nil)
  }

  func cut() {
    ConnectionTap.cut(channel)
  }

  func goAway() {
    close()
  }

  /// Closes the connection, because HTTP/1 has no frames.
  func write(_ flood: HeaderFlood, isFirst: Bool) -> EventLoopFuture<Void> {
    close()
    return eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }
}
