import Attache
import AttacheQueue
import Glibc
import Synchronization

/// Serves metrics and health on loopback, for Prometheus and for process supervision.
///
/// One thread serves at most ``maximumConnections`` at once, each for one request: the descriptors
/// that strangers can take are few, and the rest are the worker's. A failure of the system pauses
/// the server and is logged.
final class MetricsServer: Sendable {
  /// Why the server cannot be started.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// The number of connections beyond which a new one ends the oldest.
  static let maximumConnections = 16
  /// How long the server pauses after the system has refused a call.
  private static let pause = Duration.seconds(1)

  /// The port on 127.0.0.1.
  let port: UInt16
  private let listener: Int32
  private let collector: MetricsCollector
  private let wakeSignal: EventFD
  private let isStopped = Atomic(false)
  private let thread = Mutex<Attache.Thread?>(nil)
  private let warn: @Sendable (String) -> Void

  /// Starts the server. It listens when this returns.
  ///
  /// - Parameters:
  ///   - port: with 0, the system chooses one.
  ///   - warn: receives messages about what the system refuses, at most one a minute.
  /// - Throws: ``Failure`` when the server does not start.
  init(port: UInt16, _ collector: MetricsCollector, warn: @escaping @Sendable (String) -> Void) throws(Failure) {
    (self.collector, self.warn) = (collector, warn)
    do throws(SystemError) {
      wakeSignal = try EventFD()
      (listener, self.port) = try LoopbackSocket.listen(port: port)
    } catch {
      throw Failure(description: "127.0.0.1:\(port): \(SystemError.text(error.number, of: error.call))")
    }
    do throws(SystemError) {
      let started = try Attache.Thread.start("scrapes") { [self] in run() }
      thread.withLock { $0 = started }
    } catch {
      throw Failure(description: "127.0.0.1:\(port): \(error)")
    }
  }

  deinit {
    close(listener)
  }

  /// Ends the server and its open connections.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    wakeSignal.ring()
    thread.withLock { $0.take() }?.join()
  }

  private func run() {
    var connections: [MetricsConnection] = []
    // When connections are accepted again after the system has refused one.
    var acceptsAt = MonotonicInstant.distantPast
    var messages = MinuteLimit()
    while !isStopped.load(ordering: .acquiring) {
      let now = MonotonicInstant.now
      let accepts = acceptsAt <= now
      var requests = [
        pollfd(fd: wakeSignal.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0),
      ]
      requests += connections.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
      let until = (connections.map(\.end) + (accepts ? [] : [acceptsAt])).min()
      var failure: SystemError?
      if unsafe poll(&requests, nfds_t(requests.count), until?.pollTimeout ?? -1) < 0, errno != EINTR {
        failure = SystemError(call: "poll", number: errno)
        wakeSignal.wait(until: .now.advanced(by: Self.pause))
      } else {
        if requests[0].revents != 0 { wakeSignal.silence() }
        for index in connections.indices where requests[index + 2].revents != 0 { connections[index].advance(answer) }
        if requests[1].revents != 0 { failure = accept(into: &connections) }
      }
      let end = MonotonicInstant.now
      connections.removeAll { $0.isOver || $0.end <= end }
      guard let failure else { continue }
      acceptsAt = end.advanced(by: Self.pause)
      if messages.allows(at: end) { warn("the metrics cannot be served: \(failure); the server tries again every second") }
    }
  }

  /// Accepts the connections that wait.
  ///
  /// - Returns: the error because of which no connection can be accepted at present.
  private func accept(into connections: inout [MetricsConnection]) -> SystemError? {
    for _ in 0..<Self.maximumConnections {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else {
        // The errors of one connection, which has ended meanwhile (accept(2)), concern no other.
        let isOfConnection = [ECONNABORTED, EPROTO, EINTR, EPERM, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH].contains(errno)
        if isOfConnection { continue }
        return errno == EAGAIN ? nil : SystemError(call: "accept", number: errno)
      }
      if connections.count == Self.maximumConnections {
        // One that is being answered is not the first to go.
        connections.remove(at: connections.firstIndex { !$0.isAnswered } ?? 0)
      }
      var connection = MetricsConnection(descriptor)
      // The request has often arrived already.
      connection.advance(answer)
      if !connection.isOver { connections.append(connection) }
    }
    return nil
  }

  private func answer(_ request: MetricsRequest) -> MetricsResponse {
    let body: () -> MetricsResponse
    switch request.path {
    case "/metrics": body = { [collector] in MetricsResponse(200, collector.text, type: MetricsCollector.contentType) }
    case "/livez": body = { [collector] in MetricsResponse(collector.liveness) }
    case "/readyz": body = { [collector] in MetricsResponse(collector.readiness) }
    default: return MetricsResponse(404, "there are only /metrics, /livez and /readyz here\n", isBodyless: request.method == "HEAD")
    }
    guard request.method == "GET" else {
      return MetricsResponse(405, "only GET\n", fields: ["Allow: GET"], isBodyless: request.method == "HEAD")
    }
    return body()
  }
}

extension MetricsResponse {
  fileprivate init(_ health: MetricsCollector.Health) {
    switch health {
    case .good: self.init(200, "ok\n")
    case .bad(let what): self.init(503, what + "\n")
    }
  }
}
