internal import NIOCore

/// Resets its connection when the first bytes come: later than the client's connect, earlier than
/// anything that it could be answered with.
final class ResetHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    ConnectionTap.reset(context.channel)
  }
}
