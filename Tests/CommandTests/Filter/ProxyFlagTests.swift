import AttacheTesting
import Foundation
import Testing

/// The flag `--proxy` and its refusals. `FetchProxyTests` tests fetches through a proxy.
@Suite(.timeLimit(.minutes(1)))
struct ProxyFlagTests {
  @Test(arguments: ["filter", "record"])
  func `what a proxy gives up is said at the start`(command: String) async throws {
    let folder = try TemporaryFolder()
    let file = command == "record" ? [folder.path + "/recorded.yaml"] : []
    let run = try await AttacheTool().run([command] + file + ["--proxy", "http://127.0.0.1:9"], input: Sample.plain)
    #expect(run.exit == .status(0))
    #expect(run.text == Sample.plain)
    #expect(run.errors.contains("http://127.0.0.1:9, which resolves names: attache does not check their addresses"))
  }

  @Test(arguments: [
    ("http://anna:secret@127.0.0.1:9", "list of processes"), ("http://127.0.0.1", "http://HOST:PORT"),
    ("https://127.0.0.1:9", "http://HOST:PORT"),
    ("socks5h://127.0.0.1:9", "http://HOST:PORT"), ("http://127.0.0.1:9/path", "http://HOST:PORT"), ("127.0.0.1:9", "http://HOST:PORT"),
    ("", "http://HOST:PORT"),
  ])
  func `what is no proxy ends with 64 and says what is right`(text: String, says: String) async throws {
    let run = try await AttacheTool().run(["--proxy", text], input: Sample.plain)
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(says), "\(run.errors)")
    #expect(run.text.isEmpty)
  }

  @Test func `an address that no flag opens is refused before the proxy is asked, and so is the proxy itself`() async throws {
    try await withOrigin { proxy in
      let urls = ["http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://2852039166/", proxy.url("/a")]
      let flags = ["--allow-http", "--allow-net", "0.0.0.0/0", "--allow-net", "::/0", "--allow-port", "1-65535", "--proxy", proxy.url("")]
      let input = urls.map { Sample.payload($0) + "\n" }.joined()
      let (run, records) = try await AttacheTool().reported(flags, input: input)
      #expect(run.text == input)
      #expect(records.map(\.reason) == ["policy.address", "policy.address", "policy.address", "policy.host"])
      #expect(proxy.connectionCount == 0)
    }
  }
}
