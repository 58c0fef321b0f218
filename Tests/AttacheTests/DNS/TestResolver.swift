import Attache
import AttacheTesting

extension EventLoop {
  /// Returns when the loop has run all earlier work and `work`.
  func passes(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      post {
        work()
        continuation.resume()
      }
    }
  }
}

/// A resolver on its loop that any thread may ask.
struct TestResolver: Sendable {
  nonisolated(unsafe) private let resolver: AresResolver
  private let loop: EventLoop

  init(loop: EventLoop, servers: [String], timeLimits: AresResolver.TimeLimits = AresResolver.TimeLimits()) throws {
    unsafe resolver = try AresResolver(loop: loop, servers: servers, timeLimits: timeLimits)
    self.loop = loop
  }

  func resolve(_ name: String, _ completion: @escaping @Sendable (Result<[IPAddress], DNSFailure>) -> Void) {
    loop.post { unsafe resolver.resolve(name, completion) }
  }

  func resolve(_ name: String) async -> Result<[IPAddress], DNSFailure> {
    await withCheckedContinuation { continuation in
      resolve(name) { continuation.resume(returning: $0) }
    }
  }

  /// Returns when the resolver is shut down.
  func shutdown() async {
    await loop.passes { unsafe resolver.shutdown() }
  }
}

func withResolver(
  servers: [String], timeLimits: AresResolver.TimeLimits = .init(otherFamily: .seconds(5)), _ body: (TestResolver) async throws -> Void
) async throws {
  let loop = try EventLoop()
  let resolver = try TestResolver(loop: loop, servers: servers, timeLimits: timeLimits)
  try await body(resolver)
  await resolver.shutdown()
  loop.stop()
}

func withResolver(
  _ answers: [String: StubDNS.Answer], timeLimits: AresResolver.TimeLimits = .init(firstTry: .seconds(30), otherFamily: .seconds(30)),
  _ body: (StubDNS, TestResolver) async throws -> Void
) async throws {
  let stub = try await StubDNS(answers)
  try await withResolver(servers: [stub.address], timeLimits: timeLimits) { try await body(stub, $0) }
  await stub.stop()
}
