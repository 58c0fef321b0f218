internal import Attache
internal import NIOCore

/// Sends written bytes in small pieces at regular intervals.
final class DripHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let size: Int
  private let interval: TimeAmount
  private var rest = ByteBuffer()
  private var timer: Scheduled<Void>?

  init(bytes: Int, every interval: Duration) {
    size = max(1, bytes)
    self.interval = .nanoseconds(interval.nanoseconds)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var bytes = unwrapOutboundIn(data)
    rest.writeBuffer(&bytes)
    promise?.succeed()
    if timer == nil { pour(context) }
  }

  func flush(context: ChannelHandlerContext) {}

  func channelInactive(context: ChannelHandlerContext) {
    rest.clear()
    timer?.cancel()
    context.fireChannelInactive()
  }

  private func pour(_ context: ChannelHandlerContext) {
    timer = nil
    guard let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 else { return }
    context.writeAndFlush(wrapOutboundOut(piece), promise: nil)
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { [self] in pour(context) }
  }
}
