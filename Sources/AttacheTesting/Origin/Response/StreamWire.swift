internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// Writes to one HTTP/2 stream, through the codec that both protocols share.
final class StreamWire: ResponseWire {
  /// The maximum frame size in bytes, unless the reader announces another (RFC 9113, 4.2).
  private static let longestFrame = 16_384

  private let channel: any Channel

  /// - Parameter channel: the stream's channel; its parent is the connection.
  init(channel: any Channel) {
    self.channel = channel
  }

  var eventLoop: any EventLoop { channel.eventLoop }
  var connection: (any Channel)? { channel.parent }

  func write(_ head: ResponseScript.Head, isOpen: Bool, flushes: Bool) -> EventLoopFuture<Void> {
    let fields = HTTPHeaders(head.fields.map { ($0.name, $0.value) })
    let head = HTTPResponseHead(version: .http2, status: HTTPResponseStatus(statusCode: head.status), headers: fields)
    return flushes ? channel.writeAndFlush(HTTPServerResponsePart.head(head)) : channel.write(HTTPServerResponsePart.head(head))
  }

  /// Fails without writing: such scripts are refused earlier.
  func write(raw bytes: ByteBuffer) -> EventLoopFuture<Void> {
    eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
  }

  func write(body bytes: ByteBuffer) -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes)))
  }

  func end() -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.end(nil))
  }

  func reset() {
    // Written below the codec, which does not support RST_STREAM.
    let codec = try? channel.pipeline.syncOperations.context(handlerType: HTTP2FramePayloadToHTTP1ServerCodec.self)
    codec?.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.internalError)), promise: nil)
  }

  func close() {
    channel.parent?.close(promise: nil)
  }

  func write(_ flood: HeaderFlood, isFirst: Bool) -> EventLoopFuture<Void> {
    channel.getOption(HTTP2StreamChannelOptions.streamID).assumeIsolated().flatMap { [self] stream in
      write(frame: isFirst ? flood.opening(on: Int(stream)) : flood.sequel(on: Int(stream)))
    }.nonisolated()
  }

  /// Writes bytes directly to the connection, below the library's framing and above TLS.
  private func write(frame: [UInt8]) -> EventLoopFuture<Void> {
    guard let connection = channel.parent, connection.isActive,
      let context = try? connection.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
    else { return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
    return context.writeAndFlush(NIOAny(IOData.byteBuffer(ByteBuffer(bytes: frame))))
  }

  func cut() {
    channel.getOption(HTTP2StreamChannelOptions.streamID).assumeIsolated().whenSuccess { [self] stream in
      _ = write(frame: HeaderFlood.frame(0x0, flags: 0, Int(stream), [UInt8](repeating: 0, count: Self.longestFrame + 1)))
    }
  }

  func goAway() {
    guard let connection = channel.parent else { return }
    let calm = HTTP2Frame.FramePayload.goAway(lastStreamID: .rootStream, errorCode: .enhanceYourCalm, opaqueData: nil)
    connection.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: calm)).assumeIsolated().whenComplete { _ in
      connection.close(promise: nil)
    }
  }
}
