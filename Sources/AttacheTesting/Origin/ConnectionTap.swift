internal import Glibc
internal import NIOCore

/// Stands nearest to the socket, below TLS: from here a connection can be broken without a
/// farewell.
final class ConnectionTap: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  /// Ends this connection as if it were plain, without a word of TLS; on its event loop only.
  static func cut(_ channel: any Channel) {
    let tap = try? channel.pipeline.syncOperations.handler(type: ConnectionTap.self)
    guard let context = tap?.context else { return channel.close(promise: nil) }
    context.close(promise: nil)
  }

  /// Sends a TCP RST on this connection; on its event loop only.
  static func reset(_ channel: any Channel) {
    let tap = try? channel.pipeline.syncOperations.handler(type: ConnectionTap.self)
    guard let context = tap?.context else { return channel.close(promise: nil) }
    // A linger time of zero turns close(2) into a reset.
    _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    context.close(promise: nil)
  }
}
