import Attache
import AttacheMetrics
import AttacheQueue
import Dispatch
import NIOCore
import NIOPosix
import Synchronization

/// Serves metrics and health, for Prometheus and for process supervision.
///
/// One thread serves at most ``MetricsListener/maximumConnections`` at once, each for one request:
/// the descriptors that strangers can take are few, and the rest are the worker's. A failure of the
/// system pauses the server and is logged.
final class MetricsServer: Sendable {
  /// Why the server cannot be started.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private struct State {
    var listener: (any Channel)?
    var endpoint: WrittenEndpoint
    var isStopped = false
    var messages = MinuteLimit()

    init(_ endpoint: WrittenEndpoint) { self.endpoint = endpoint }
  }

  /// How long the server pauses after the system has refused a call.
  static let pause = TimeAmount.seconds(1)

  let collector: MetricsCollector
  /// What each request must have; nil for nothing.
  let token: BearerToken?
  private let loop: any NIOCore.EventLoop
  private let state: Mutex<State>
  private let warn: @Sendable (String) -> Void

  /// Where it listens.
  var endpoint: WrittenEndpoint { state.withLock(\.endpoint) }

  /// Starts the server. It listens when this returns.
  ///
  /// - Parameters:
  ///   - endpoint: with port 0, the system chooses one.
  ///   - token: what each request must have; nil for nothing.
  ///   - warn: receives messages about what the system refuses, at most one a minute.
  /// - Throws: ``Failure`` when the server does not start.
  init(
    at endpoint: WrittenEndpoint, _ token: BearerToken?, _ collector: MetricsCollector, warn: @escaping @Sendable (String) -> Void
  ) throws(Failure) {
    (self.collector, self.token, self.warn) = (collector, token, warn)
    state = Mutex(State(endpoint))
    do {
      loop = try Self.startLoop()
      try listen(at: endpoint).wait()
    } catch {
      throw Failure(description: "\(endpoint): \((error as? IOError).map { SystemError.text($0.errnoCode) } ?? "\(error)")")
    }
  }

  /// Ends the server and its open connections. Its thread ends with the process: NIO ends a loop
  /// through Dispatch, which waits forever when the system creates no thread.
  func stop() {
    let listener = state.withLock { state in
      state.isStopped = true
      return state.listener
    }
    try? listener?.close().wait()
  }

  private static func startLoop() throws(SystemError) -> any NIOCore.EventLoop {
    // NIO traps if it gets no descriptors for its loop: one of epoll, an eventfd and a timerfd.
    _ = try (0..<3).map { _ throws(SystemError) in try EventFD() }
    let started = DispatchSemaphore(value: 0)
    let loop = Mutex<(any NIOCore.EventLoop)?>(nil)
    try Attache.Thread.start("scrapes") {
      MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { new in
        loop.withLock { $0 = new }
        started.signal()
      }
    }.detach()
    while true {
      started.wait()
      if let loop = loop.withLock({ $0 }) { return loop }
    }
  }

  private func listen(at endpoint: WrittenEndpoint) -> EventLoopFuture<Void> {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(MetricsListener(self)) }
      }
    return bootstrap.bind(host: "\(endpoint.address)", port: Int(endpoint.port)).map { listener in
      let isStopped = self.state.withLock { state in
        state.listener = listener
        if let port = listener.localAddress?.port { state.endpoint.port = UInt16(port) }
        return state.isStopped
      }
      if isStopped { listener.close(promise: nil) }
    }
  }

  /// Listens anew after a pause: NIO closes its listener after most errors of accept(2).
  func listenAgain() {
    let (endpoint, isStopped) = state.withLock { ($0.endpoint, $0.isStopped) }
    if isStopped { return }
    loop.scheduleTask(in: Self.pause) {
      self.listen(at: endpoint).whenFailure { error in
        self.report(error, of: "listen")
        self.listenAgain()
      }
    }
  }

  /// Logs an error, if none was logged in the last minute.
  func report(_ error: any Error, of call: String) {
    guard state.withLock({ $0.messages.allows(at: .now) }) else { return }
    let failure = (error as? IOError).map { "\(SystemError(call: call, number: $0.errnoCode))" } ?? "\(error)"
    warn("the metrics cannot be served: \(failure); the server tries again every second")
  }
}
