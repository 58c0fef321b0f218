internal import Glibc
internal import NIOCore

/// The handler nearest to the socket, below TLS. It can close a connection without a TLS
/// close_notify.
final class ConnectionTap: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  /// Closes this connection as if it had no TLS, without a TLS close_notify. Call it on the
  /// connection's event loop only.
  static func cut(_ channel: any Channel) {
    let tap = try? channel.pipeline.syncOperations.handler(type: ConnectionTap.self)
    guard let context = tap?.context else { return channel.close(promise: nil) }
    context.close(promise: nil)
  }

  /// Sends a TCP RST on this connection. Call it on the connection's event loop only.
  static func reset(_ channel: any Channel) {
    let tap = try? channel.pipeline.syncOperations.handler(type: ConnectionTap.self)
    guard let context = tap?.context else { return channel.close(promise: nil) }
    // With a linger time of zero, close(2) resets the connection.
    _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    context.close(promise: nil)
  }
}
