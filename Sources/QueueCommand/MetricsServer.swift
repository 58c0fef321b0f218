import AttacheQueue
import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// Serves metrics and health on loopback, for Prometheus and for process supervision.
final class MetricsServer: Sendable {
  /// The port on 127.0.0.1.
  let port: UInt16
  private let server: HTTPServer
  private let task: Task<Void, Never>

  /// Why the server cannot be started.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Starts the server and waits until it listens.
  ///
  /// - Parameter port: with 0, the system chooses one.
  /// - Throws: ``Failure`` when the server does not start.
  init(port: UInt16, _ collector: MetricsCollector) throws(Failure) {
    let started = DispatchSemaphore(value: 0)
    let outcome = Outcome()
    do {
      server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled, handler: Handler(collector: collector))
    } catch {
      throw Failure(description: "127.0.0.1:\(port): \(error)")
    }
    task = Self.run(server, port: port) { result in
      outcome.result.withLock { $0 = $0 ?? result }
      started.signal()
    }
    started.wait()
    self.port = try outcome.result.withLock { $0 ?? .failure(Failure(description: "127.0.0.1:\(port): not served")) }.get()
  }

  /// Whether the server listens, once that is known.
  private final class Outcome: Sendable {
    let result = Mutex<Result<UInt16, Failure>?>(nil)
  }

  /// Ends the server and its open connections.
  func stop() {
    task.cancel()
  }

  /// Runs the server. Calls `notify` when it listens, or with the reason why it does not.
  private static func run(
    _ server: HTTPServer, port: UInt16, notify: @escaping @Sendable (Result<UInt16, Failure>) -> Void
  ) -> Task<Void, Never> {
    Task.detached {
      async let listening: Void = {
        guard (try? await server.waitUntilListening()) != nil, case .ip4(_, let port)? = await server.listeningAddress else { return }
        notify(.success(port))
      }()
      do {
        try await server.run()
      } catch {
        notify(.failure(Failure(description: "127.0.0.1:\(port): \(describe(error))")))
      }
      await listening
    }
  }

  private static func describe(_ error: any Error) -> String {
    if case .failed(_, let number, let message)? = error as? SocketError { return "\(message) (\(number))" }
    return "\(error)"
  }

  /// Responds to the requests.
  private struct Handler: HTTPHandler {
    let collector: MetricsCollector

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
      guard let answer = answer(request.path) else { return Self.response(.notFound, "there are only /metrics, /livez and /readyz here\n") }
      guard request.method == .GET else {
        return Self.response(.methodNotAllowed, request.method == .HEAD ? "" : "only GET\n", [HTTPHeader("Allow"): "GET"])
      }
      return answer()
    }

    private func answer(_ path: String) -> (() -> HTTPResponse)? {
      switch path {
      case "/metrics": { Self.response(.ok, collector.text, [.contentType: MetricsCollector.contentType]) }
      case "/livez": { Self.response(collector.liveness) }
      case "/readyz": { Self.response(collector.readiness) }
      default: nil
      }
    }

    private static func response(_ health: MetricsCollector.Health) -> HTTPResponse {
      switch health {
      case .good: response(.ok, "ok\n")
      case .bad(let what): response(.serviceUnavailable, what + "\n")
      }
    }

    private static func response(_ status: HTTPStatusCode, _ body: String, _ headers: [HTTPHeader: String] = [:]) -> HTTPResponse {
      let usual: [HTTPHeader: String] = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
      return HTTPResponse(statusCode: status, headers: HTTPHeaders(usual.merging(headers) { $1 }), body: Data(body.utf8))
    }
  }
}
