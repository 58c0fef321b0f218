import Attache
import Glibc
import Testing
import Tripwire

@testable import AttacheTesting

/// Isolated networks, and the canary that sees every connection in them.
@Suite(.timeLimit(.minutes(1)))
struct IsolatedNetworkTests {
  /// A payload that names a URL in a network without origins. No connection is expected.
  private static func quiet(_ url: String, flags: [String] = []) -> Scenario {
    PhotoScenario.make(url) {
      $0.network = .isolated
      $0.origins = [:]
      $0.flags = ["--retries", "0"] + flags
      $0.expectation.connections = 0
    }
  }

  private func findings(_ scenario: Scenario) async throws -> [String] {
    let result = await ScenarioRunner().run(scenario)
    if let reason = result.skipped { try Test.cancel("\(reason)") }
    return result.findings.map(\.message)
  }

  @Test(arguments: ["http://10.0.0.1:6379/", "http://[fd00::1]:6379/"])
  func `a single connection is seen, whatever it leads to`(_ url: String) async throws {
    let seen = try await findings(Self.quiet(url, flags: ["--allow-net", "10.0.0.0/8", "--allow-net", "fd00::/8"]))
    #expect(seen == ["expected 0 connections, got 1: TCP \(url.dropFirst(7).dropLast())"])
    #expect(try await findings(Self.quiet(url)) == [])
  }

  @Test func `a connection that is refused, one that is dropped and a datagram are each seen once`() async throws {
    let result = await Self.seen {
      Self.send(SOCK_STREAM, to: .v4(0x0A00_0001), 6379)
      Self.send(SOCK_STREAM, to: .v4(0x0808_0808), 80)
      Self.send(SOCK_DGRAM, to: .v4(0x0808_0404), 53)
      Self.send(SOCK_DGRAM, to: .v6(0x2606_4700 << 96 | 1), 443)
      Self.send(SOCK_DGRAM, to: .v4(0x7F00_0001), 5353)
    }
    if case .failure(.unavailable(let reason)) = result { try Test.cancel("\(reason)") }
    #expect(try result.get() == ["TCP 10.0.0.1:6379", "TCP 8.8.8.8:80", "UDP 8.8.4.4:53", "UDP [2606:4700::1]:443"])
  }

  /// The connections that a canary sees while `body` runs in an isolated network. The name server
  /// is at port 5353, and packets to 8.8.8.8:80 are dropped.
  private static func seen(_ body: @escaping @Sendable () -> Void) async -> Result<[String], StageError> {
    do throws(StageError) {
      let network = try await NetworkNamespace(hasIPv6: true, files: [:], folder: StageFolder())
      return await RehearsalThread.attempt(in: network) { () throws(StageError) in
        let port = try ReservedPort(.dropping, at: .v4(0x0808_0808), port: 80)
        let canary = try ConnectionCanary(server: 5353, ignored: port.ownAttempts)
        body()
        return withExtendedLifetime(port) { canary.attempts.map(\.description) }
      }
    } catch {
      return .failure(error)
    }
  }

  private static func send(_ type: __socket_type, to address: IPAddress, _ port: UInt16) {
    let name = SocketName(address, port: port)
    Tripwire.pass(address, port: port)
    let descriptor = socket(name.family, Int32(type.rawValue | SOCK_NONBLOCK.rawValue), 0)
    _ = unsafe name.with { unsafe connect(descriptor, $0, $1) }
    if type == SOCK_DGRAM { _ = unsafe Glibc.send(descriptor, "x", 1, 0) }
    close(descriptor)
  }
}
