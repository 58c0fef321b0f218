import AttacheTesting
import Foundation
import Testing

/// Which part of a URL the log and the report show.
@Suite(.timeLimit(.minutes(1)))
struct LogURLsTests {
  private static let url = "https://anna:pa55@127.0.0.1/a%20b.png?token=s3cret#fragm3nt"

  private func run(_ flags: [String]) async throws -> (report: String, errors: String) {
    let tool = try AttacheTool()
    let run = try await tool.run(["--report", tool.report] + flags, input: Sample.payload(Self.url))
    #expect(run.text == Sample.payload(Self.url))
    return (try String(contentsOfFile: tool.report, encoding: .utf8), run.errors)
  }

  @Test func `the log and the report carry no query and no password unless it is asked for`() async throws {
    let (report, errors) = try await run([])
    for text in [report, errors] {
      #expect(text.contains("https://127.0.0.1/a%20b.png"))
      for secret in ["pa55", "s3cret", "fragm3nt"] { #expect(!text.contains(secret), "\(text)") }
    }
  }

  @Test func `with --log-urls full they carry the whole URL`() async throws {
    let (report, errors) = try await run(["--log-urls", "full"])
    #expect(report.contains(Self.url))
    #expect(errors.contains(Self.url))
  }

  @Test func `a text without a scheme is quoted without its query`() async throws {
    let run = try await AttacheTool().run(
      ["--media-key", "my-image"], input: Sample.payload("cdn.example/a?token=s3cret", key: "my-image"))
    #expect(run.errors.contains("'cdn.example/a' has no scheme"))
    #expect(!run.errors.contains("s3cret"))
  }

  @Test func `a picture on the machine itself is refused with every flag that would allow it`() async throws {
    let run = try await AttacheTool().run(["--media-key", "my-image"], input: Sample.payload("http://127.0.0.1/", key: "my-image"))
    #expect(run.errors.contains("--allow-http"))
    #expect(run.errors.contains("--allow-net 127.0.0.0/8"))
  }
}
