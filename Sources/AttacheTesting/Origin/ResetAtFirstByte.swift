internal import NIOCore

/// Breaks its connection as soon as the client has said something: a reset that meets the client while it still connects is another mishap, and
/// which of the two it would be is a matter of chance.
final class ResetAtFirstByte: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    ConnectionTap.reset(context.channel)
  }
}
