internal import NIOCore

/// Resets its connection when the first bytes arrive: after the client's connect, and before any
/// answer.
final class ResetHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    ConnectionTap.reset(context.channel)
  }
}
