import AttacheTesting
import Foundation
import Glibc
import Testing

/// No flag lets an extension's own requests reach the metadata services of clouds, and a rehearsal's none
/// beyond this machine.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(
    if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/sbin/ip"), "needs root and ip, for a network of its own"))
struct ExtensionMetadataTests {
  /// Each address is one of the machine, in the test's own network, and a server listens on all.
  private static let script = """
    ip link set lo up
    for address in 169.254.169.254 100.100.100.200 168.63.129.16 10.9.9.9 8.8.8.8; do ip addr add $address/32 dev lo; done
    python3 -m http.server 80 --bind 0.0.0.0 --directory "$1" >/dev/null 2>&1 &
    python3 -m http.server 8080 --bind 0.0.0.0 --directory "$1" >/dev/null 2>&1 &
    trap 'kill $(jobs -p)' EXIT
    for port in 80 8080; do until (exec 3<>/dev/tcp/10.9.9.9/$port) 2>/dev/null; do sleep 0.05; done; done
    shift
    "$@"
    """

  @Test func `a metadata service is not reached, and a private address that is allowed is`() async throws {
    let addresses = ["169.254.169.254", "100.100.100.200", "168.63.129.16", "10.9.9.9"]
    let (input, lines) = try await run(addresses, ["--allow-net", "0.0.0.0/0"])
    #expect(Array(lines[..<3]) == Array(input[..<3]))
    #expect(Enriched.attachments(lines[3]).count == 1)
  }

  @Test func `a public address is reached, unless a rehearsal keeps the extension on this machine`() async throws {
    let addresses = ["8.8.8.8", "127.0.0.1"]
    let (_, both) = try await run(addresses, ["--allow-net", "127.0.0.0/8"])
    #expect(both.map { Enriched.attachments($0).count } == [1, 1])
    let (input, own) = try await run(addresses, ["--allow-net", "127.0.0.0/8", "--extension-loopback"])
    #expect(own[0] == input[0] && Enriched.attachments(own[1]).count == 1)
  }

  /// Runs a filter over a payload for each address, in a network of its own.
  private func run(_ addresses: [String], _ rules: [String]) async throws -> (input: [String], lines: [String]) {
    let tool = try AttacheTool()
    let program = try await ExtensionCommandTests.build("Tutorial.swift", tool)
    let input = addresses.map { #"{"aps":{"alert":"\#($0)","mutable-content":1},"image":"http://\#($0)/photo.jpg"}"# + "\n" }
    let result = try await run(["--allow-http"] + rules + ["--extension", program], input.joined(), tool)
    let lines = result.text.split(separator: "\n").map { $0 + "\n" }
    try #require(lines.count == addresses.count, "\(result.errors)")
    return (input, lines.map(String.init))
  }

  /// Runs the filter in a network of its own.
  private func run(_ flags: [String], _ input: String, _ tool: AttacheTool) async throws -> Run {
    let words = ["-n", "/bin/bash", "-c", Self.script, "bash", Sample.fixtures + "/media"]
    let launch = Launch(
      path: "/usr/bin/unshare", arguments: words + [AttacheTool.folder + "/attache"] + flags, environment: tool.environment,
      folder: tool.home)
    let program = try Program(launch)
    program.input.write(Array(input.utf8))
    program.input.close()
    return await program.finished()
  }

  @Test func `a port is reached as by attache's own downloads`() async throws {
    let tool = try AttacheTool()
    let program = try await ExtensionCommandTests.build("Tutorial.swift", tool)
    let ports = ["8.8.8.8:80", "8.8.8.8:8080"]
    let input = ports.map { #"{"aps":{"alert":"\#($0)","mutable-content":1},"image":"http://\#($0)/photo.jpg"}"# + "\n" }.joined()
    for (flags, reached) in [([], [true, false]), (["--allow-port", "8080"], [true, true])] {
      for serving in [[], ["--extension", program]] {
        let result = try await run(["--allow-http"] + flags + serving, input, tool)
        let lines = result.text.split(separator: "\n")
        #expect(lines.map { !Enriched.attachments(String($0)).isEmpty } == reached, "\(flags) \(serving): \(result.errors)")
      }
    }
  }
}
