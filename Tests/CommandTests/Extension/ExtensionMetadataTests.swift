import AttacheTesting
import Foundation
import Glibc
import Testing

/// No flag lets an extension's own requests reach the metadata services of clouds.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(
    if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/sbin/ip"), "needs root and ip, for a network of its own"))
struct ExtensionMetadataTests {
  /// Each address is one of the machine, in the test's own network, and a server listens on all.
  private static let script = """
    ip link set lo up
    for address in 169.254.169.254 100.100.100.200 168.63.129.16 10.9.9.9; do ip addr add $address/32 dev lo; done
    python3 -m http.server 80 --bind 0.0.0.0 --directory "$1" >/dev/null 2>&1 &
    trap 'kill $(jobs -p)' EXIT
    until (exec 3<>/dev/tcp/10.9.9.9/80) 2>/dev/null; do sleep 0.05; done
    shift
    "$@"
    """

  @Test func `a metadata service is not reached, and a private address that is allowed is`() async throws {
    let tool = try AttacheTool()
    let program = try await ExtensionCommandTests.build("Tutorial.swift", tool)
    let addresses = ["169.254.169.254", "100.100.100.200", "168.63.129.16", "10.9.9.9"]
    let input = addresses.map { #"{"aps":{"alert":"\#($0)","mutable-content":1},"image":"http://\#($0)/photo.jpg"}"# + "\n" }
    let words = ["-n", "/bin/bash", "-c", Self.script, "bash", Sample.fixtures + "/media"]
    let flags = ["--allow-http", "--allow-net", "0.0.0.0/0", "--extension", program]
    let launch = Launch(
      path: "/usr/bin/unshare", arguments: words + [AttacheTool.folder + "/attache"] + flags, environment: tool.environment,
      folder: tool.home)
    let run = try Program(launch)
    run.input.write(Array(input.joined().utf8))
    run.input.close()
    let result = await run.finished()
    let lines = result.text.split(separator: "\n").map { $0 + "\n" }
    try #require(lines.count == 4, "\(result.errors)")
    #expect(Array(lines[..<3]) == input[..<3].map { Substring($0) }, "\(result.text)")
    #expect(Enriched.attachments(lines[3]).count == 1, "\(result.errors)")
  }
}
