internal import NIOCore
internal import NIOHTTP1

/// Writes HTTP/1 as bytes, so that every fault is exact.
final class PlainWire: ResponseWire {
  private let channel: any Channel
  private var isChunked = false

  init(channel: any Channel) {
    self.channel = channel
  }

  var eventLoop: any EventLoop { channel.eventLoop }
  var connection: (any Channel)? { channel }

  func write(_ head: ResponseHead, flushes: Bool) -> EventLoopFuture<Void> {
    isChunked = head.isChunked
    let bytes = ByteBuffer(string: Self.statusLine(head) + Self.lines(head.fields) + "\r\n")
    return flushes ? channel.writeAndFlush(bytes) : channel.write(bytes)
  }

  func write(unfinished head: ResponseHead, isFirst: Bool) -> EventLoopFuture<Void> {
    channel.writeAndFlush(ByteBuffer(string: (isFirst ? Self.statusLine(head) : "") + Self.lines(head.fields)))
  }

  func endHead(isChunked: Bool) -> EventLoopFuture<Void> {
    self.isChunked = isChunked
    return channel.writeAndFlush(ByteBuffer(string: "\r\n"))
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

  private static func statusLine(_ head: ResponseHead) -> String {
    "HTTP/1.\(head.minorVersion) \(head.status) \(HTTPResponseStatus(statusCode: head.status).reasonPhrase)\r\n"
  }

  private static func lines(_ fields: [HeaderField]) -> String {
    fields.map { "\($0.name): \($0.value)\r\n" }.joined()
  }
}
