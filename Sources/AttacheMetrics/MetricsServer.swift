package import Attache
internal import CLinux
internal import Glibc

/// Serves metrics and health, for Prometheus and for process supervision.
///
/// One thread serves at most ``maximumConnections`` at once, each for one request: the descriptors that
/// strangers can take are few, and the rest are the process's. A failure of the system pauses the server
/// and is logged.
///
/// `@unchecked Sendable`: only the loop's thread accesses `connections` and `messages`; the other
/// properties are constant and `Sendable`.
package final class MetricsServer: @unchecked Sendable {
  /// The number of connections beyond which a new one ends another.
  static let maximumConnections = 16
  /// How long the server pauses after the system has refused a connection.
  private static let pause = Duration.seconds(1)

  /// Where it listens.
  package let endpoint: WrittenEndpoint
  private let token: BearerToken?
  private let pages: any MetricsPages
  private let warn: @Sendable (String) -> Void
  private let loop: EventLoop
  private let listener: Int32
  private var connections: [MetricsConnection] = []
  private var messages = MinuteLimit()

  /// Starts the server. It listens when this returns.
  ///
  /// - Parameters:
  ///   - endpoint: with port 0, the system chooses one.
  ///   - token: what each request must have; nil for nothing.
  ///   - warn: receives messages about what the system refuses, at most one a minute.
  /// - Throws: ``SystemError`` when the server does not start.
  package init(
    at endpoint: WrittenEndpoint, _ token: BearerToken?, _ pages: any MetricsPages, warn: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    (self.token, self.pages, self.warn) = (token, pages, warn)
    (listener, self.endpoint) = try endpoint.listen()
    do throws(SystemError) {
      loop = try EventLoop(name: "scrapes", machine: SystemMachine())
    } catch {
      close(listener)
      throw error
    }
    loop.post { [self] in listen() }
  }

  /// Ends the server and its open connections.
  package func stop() {
    loop.post { [self] in
      loop.unwatch(listener)
      close(listener)
      for connection in connections { connection.close() }
    }
    loop.stop()
  }

  private func listen() {
    loop.watch(listener, for: .readable) { [self] _, _ in accept() }
  }

  private func accept() {
    while true {
      let descriptor = linux_accept(listener)
      guard descriptor >= 0 else {
        // These concern one connection, which has ended meanwhile, or none.
        if [EINTR, ECONNABORTED].contains(errno) { continue }
        if errno != EAGAIN { wait(after: SystemError(call: "accept", number: errno)) }
        return
      }
      connections.removeAll(where: \.isOver)
      if connections.count == Self.maximumConnections {
        // First one that has its response, then one that has not asked yet.
        let index = connections.firstIndex(where: \.isServed) ?? connections.firstIndex { !$0.isAnswered } ?? 0
        connections.remove(at: index).close()
      }
      connections.append(MetricsConnection(descriptor, loop) { [token, pages] head in MetricsResponse(to: head, token, pages) })
    }
  }

  private func wait(after error: SystemError) {
    if messages.allows(at: loop.now) { warn("the metrics cannot be served: \(error); the server tries again every second") }
    loop.unwatch(listener)
    _ = loop.schedule(at: loop.now.advanced(by: Self.pause)) { [self] in listen() }
  }
}
