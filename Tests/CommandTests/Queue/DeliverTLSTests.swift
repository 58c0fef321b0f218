import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache deliver --http` over TLS, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct DeliverTLSTests {
  private static let count = 30

  private func queue() async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...Self.count).map { "{\"n\":\($0)}\n" }.joined())
    return queue
  }

  private func withEndpoint(http2: Bool, _ body: (FaultOrigin, _ roots: String) async throws -> Void) async throws {
    let origin = try await FaultOrigin.start(tls: .selfMade(), http2: http2)
    origin.serve("/push", Array("taken".utf8))
    do {
      try await body(origin, try #require(origin.rootCertificatePEMFile))
    } catch {
      await origin.stop()
      throw error
    }
    await origin.stop()
  }

  @Test(arguments: [(true, "2"), (false, "1.1")])
  func `each payload is posted once, by what the endpoint speaks best`(http2: Bool, version: String) async throws {
    try await withEndpoint(http2: http2) { origin, roots in
      let queue = try await queue()
      let run = try await queue.run("deliver", ["--once", "--jobs", "4", "--http", origin.url("/push"), "--cacert", roots])
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered \(Self.count), dropped 0, poison 0, expired 0, retried 0 in "))
      let requests = origin.requests
      #expect(Set(requests.compactMap { $0.field("attache-id") }) == Set((1...Self.count).map(String.init)))
      #expect(requests.count == Self.count)
      #expect(requests.allSatisfy { $0.method == "POST" && $0.path == "/push" && $0.httpVersion == version })
      #expect(requests.allSatisfy { $0.field("content-length") == ($0.field("attache-id")?.count == 1 ? "7" : "8") })
      // HTTP/2 uses one connection for all jobs; HTTP/1.1 keeps one for each job.
      #expect(origin.connectionCount <= (http2 ? 1 : 4))
    }
  }

  /// Passes each connection but the first on to a port; the first is never answered.
  private static let silentFirst = """
    import socket, sys, threading
    def pump(source, target):
        try:
            while data := source.recv(65536): target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError: pass
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(listener.getsockname()[1], flush=True)
    first = listener.accept()[0]
    while True:
        client = listener.accept()[0]
        server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        for pair in ((client, server), (server, client)): threading.Thread(target=pump, args=pair, daemon=True).start()
    """

  @Test(arguments: [true, false])
  func `a handshake that hangs keeps no other request waiting, and costs no try`(http2: Bool) async throws {
    try await withEndpoint(http2: http2) { origin, roots in
      let queue = try await queue()
      let proxy = try Program(
        Launch(
          path: "/usr/bin/env", arguments: ["python3", "-c", Self.silentFirst, "\(origin.port)"],
          environment: ["PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]))
      let port = await proxy.lines(1).first ?? ""
      let url = origin.url("/push").replacing(":\(origin.port)/", with: ":\(port)/")
      let run = try await queue.run("deliver", ["--once", "--http", url, "--cacert", roots, "--answer-timeout", "5s"])
      #expect(run.exit == .status(0))
      #expect(run.errors.contains("attache: delivered \(Self.count), dropped 0, poison 0, expired 0, retried 0 in "))
      #expect(!run.errors.contains("paused"))
      #expect(origin.requests.count == Self.count)
      #expect(origin.requests.allSatisfy { $0.field("attache-attempt") == "1" })
      withExtendedLifetime(proxy) {}
    }
  }

  @Test(arguments: [true, false])
  func `an endpoint whose certificate nobody vouches for is refused, and costs no payload and no try`(http2: Bool) async throws {
    try await withEndpoint(http2: http2) { origin, roots in
      try await withEndpoint(http2: http2) { _, others in
        let queue = try await queue()
        for trusted in [["--cacert", others], []] {
          let program = try queue.start("deliver", ["--http", origin.url("/push")] + trusted)
          #expect(await program.errors(holding: "paused: ").contains("paused: SSL certificate problem: "))
          program.send(SIGTERM)
          let run = await program.finished()
          #expect(run.exit == .status(75))
          #expect(run.errors.contains("attache: delivered 0, dropped 0, poison 0, expired 0, retried 0 in "))
        }
        #expect(origin.requestCount() == 0)
        #expect(try await queue.state().unread == Self.count)
        #expect(!(try await queue.run("queue", ["--line", "1"]).text.contains("try ")))
        #expect(try await queue.run("deliver", ["--once", "--http", origin.url("/push"), "--cacert", roots]).exit == .status(0))
        #expect(origin.requests.count == Self.count)
        #expect(origin.requests.allSatisfy { $0.field("attache-attempt") == "1" })
      }
    }
  }
}
