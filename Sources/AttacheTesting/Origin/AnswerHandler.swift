internal import NIOCore

/// Answers the client's first bytes with fixed bytes.
final class AnswerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer: [UInt8]
  private var hasAnswered = false

  init(_ answer: [UInt8]) {
    self.answer = answer
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasAnswered else { return }
    hasAnswered = true
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
  }
}
