import Glibc
import NIOCore

/// The listening socket of the ``MetricsServer``, and its connections.
final class MetricsListener: ChannelInboundHandler {
  typealias InboundIn = any Channel

  /// The number of connections beyond which a new one ends the oldest.
  static let maximumConnections = 16

  private let server: MetricsServer
  private var connections: [MetricsConnection] = []

  init(_ server: MetricsServer) {
    self.server = server
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connections.removeAll(where: \.isOver)
    if connections.count == Self.maximumConnections {
      // One that is being answered is not the first to go.
      connections.remove(at: connections.firstIndex { !$0.isAnswered } ?? 0).channel.close(promise: nil)
    }
    let connection = MetricsConnection(unwrapInboundIn(data), server.token, server.collector)
    connections.append(connection)
    do {
      try connection.prepare()
      context.fireChannelRead(data)
    } catch {
      connection.channel.close(promise: nil)
    }
  }

  /// Pauses after a failed accept(2). NIO's AcceptBackoffHandler does not when the first accept(2) of
  /// a turn fails: it delays the next read, but the present one stays pending, and NIO repeats it at
  /// once.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // This error concerns one connection, which has ended meanwhile.
    if (error as? IOError)?.errnoCode == ECONNABORTED { return }
    server.report(error, of: "accept")
    let channel = context.channel
    _ = channel.setOption(.autoRead, value: false)
    context.eventLoop.scheduleTask(in: MetricsServer.pause) { _ = channel.setOption(.autoRead, value: true) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    for connection in connections { connection.channel.close(promise: nil) }
    server.listenAgain()
  }
}
