import Testing

/// The messages for wrong usage.
@Suite(.timeLimit(.minutes(1)))
struct UsageTests {
  /// A wrong value for each flag, and a part of the message that says what to do.
  static let mistakes: [(flag: String, value: String, advice: String)] = [
    ("--deadline", "soon", "300ms, 2s or 1m"), ("--deadline", "5", "300ms, 2s or 1m"),
    ("--grace", "x", "--grace <time>"), ("--grace", "31s", "shorter than --deadline"),
    ("--on-expiry", "never", "'original' and 'best-attempt'"), ("--jobs", "0", "at least 1"), ("--jobs", "many", "--jobs <n>"),
    ("--window", "8XB", "--window <size>"), ("--store-max", "big", "500MB or 10GB"), ("--store-age", "old", "12h or 30d"),
    ("--media-key", "a..b", "one dot between two names"), ("--payload-path", "/~", "write ~0"),
    ("--report-key", "a..b", "one dot between two names"),
    ("--dialect", "latin", "`attache dialects` lists them"),
    ("--dialects", "/nowhere/mine.json", "No such file"), ("--dialects", "/", "Is a directory"),
    ("--dialects", "/etc/passwd", "/etc/passwd:1: column 1"),
    ("--output-key", "", "--output-key <key>"), ("--output-key", "aps", "--output-key aps"), ("--output-key", "data.attache", "dot"),
    ("--output-key", "media-url", "is where the dialect"), ("--output-key", "attachment-url", "is where the dialect"),
    ("--base-url", "cdn.example", "https://cdn.example/"), ("--max-payload", "x", "4096"),
    ("--attach-as", "link", "'member', 'url' or 'both'"), ("--attach-as", "url", "set --base-url"),
    ("--attach-as", "both", "set --base-url"),
    ("--allow-net", "home", "127.0.0.0/8"), ("--allow-net", "10.0.0.1/8", "write 10.0.0.0/8"), ("--allow-port", "0", "8000-8100"),
    ("--allow-port", "9-8", "8000-8100"), ("--allow-port", "65536", "8000-8100"), ("--allow-host", "a/b", "*.example.com"),
    ("--deny-host", "http://a.example", "only letters"), ("--cacert", "/nowhere/root.pem", "No such file"),
    ("--user-agent", " a", "begins or ends with a blank"), ("--user-agent", "é", "not ASCII"),
    ("--cacert", "/etc/passwd", "-----BEGIN CERTIFICATE-----"), ("--cacert", "/", "Is a directory"),
    ("--dns-server", "ns.example", "127.0.0.1:5353"), ("--dns-server", "127.0.0.1:99999", "127.0.0.1:5353"),
    ("--limits", "foto=1MB", "image=10MB,audio=5MB,video=50MB"), ("--limits", "image", "image=10MB,audio=5MB,video=50MB"),
    ("--max-attachments", "0", "at least 1"), ("--retries", "-1", "--retries <n>"), ("--retries", "256", "--retries <n>"),
    ("--per-host", "0", "at least 1"), ("--fetchers", "0", "at least 1"), ("--fetchers", "65", "at most 64"),
    ("--max-side", "0", "at least 1"), ("--max-side", "65536", "at most 65535"), ("--max-side", "100", "needs --convert"),
    ("--source-limits", "big", "--source-limits <size>"), ("--source-limits", "1MB", "needs --convert"),
    ("--max-source-pixels", "0", "at least 1"), ("--max-source-pixels", "9", "needs --convert"),
    ("--upload", "media", "s3://BUCKET"), ("--upload", "s3://Media", "lower-case"),
    ("--upload-endpoint", "https://s3.example", "needs --upload"), ("--upload-region", "eu", "needs --upload"),
    ("--upload-credentials", "key", "needs --upload"), ("--upload-keep", "14d", "needs --upload"),
    ("--upload-keep", "old", "--upload-keep <time>"),
    ("--extension-concurrency", "2", "needs --extension"),
    ("--extension-processes", "2", "needs --extension"), ("--extension-memory", "30MB", "needs --extension"),
    ("--extension-groups", "groups", "needs --extension"),
    ("--max-pixels", "0", "at least 1"), ("--cache", "always", "'http', 'session' or 'off'"),
    ("--progress", "loud", "'auto', 'always' or 'never'"),
    ("--log-format", "xml", "'text' and 'json'"),
  ]

  @Test(arguments: mistakes)
  func `a wrong value ends with 64, says what is right, and reads nothing`(flag: String, value: String, advice: String) async throws {
    let run = try await AttacheTool().start(["\(flag)=\(value)"]).finished()
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains(flag))
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test(arguments: [(["filter"], "--report-key needs --report."), (["batch", "in"], "--report-key needs --report or --queue.")])
  func `a key of records without a report ends with 64`(command: [String], message: String) async throws {
    let run = try await AttacheTool().start(command + ["--report-key", "/user"]).finished()
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test(arguments: [
    (["fitler"], "no such command: fitler; did you mean filter?"), (["wrok", "--once"], "no such command: wrok; did you mean work?"),
    (["payloads"], "filter reads standard input: `attache filter < payloads`, or `attache batch payloads`"),
    (["filter", "fitler"], "filter reads standard input: `attache filter < fitler`, or `attache batch fitler`"),
    (["--jobs", "4", "x.jsonl"], "filter reads standard input: `attache filter < x.jsonl`, or `attache batch x.jsonl`"),
    (["help", "filtr"], "no such command: filtr; did you mean filter?"),
    (["help", "store", "prun"], "no such command: prun; did you mean prune?"),
    (["help", "zzzzzzzz"], "no such command or file: zzzzzzzz; `attache --help` lists the commands"),
    (["zzzzzzzz"], "no such command or file: zzzzzzzz; `attache --help` lists the commands"),
  ])
  func `a word that is no flag is answered with what was meant`(arguments: [String], advice: String) async throws {
    let tool = try AttacheTool()
    let program = try Program(
      Launch(
        path: "/bin/sh",
        arguments: ["-c", "cd \"$HOME\" && : > payloads && exec \"$0\" \"$@\"", AttacheTool.folder + "/attache"] + arguments,
        environment: tool.environment, folder: tool.home))
    let run = await program.finished()
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test(arguments: [
    (["--dedline", "2s"], "Unknown option '--dedline'. Did you mean '--deadline'?"),
    (["--metrix", "9000"], "Unknown option '--metrix'. Did you mean '--metrics'?"),
    (["filter", "--dedline", "2s"], "Unknown option '--dedline'. Did you mean '--deadline'?"),
    (["--covert", "--max-side", "100"], "Unknown option '--covert'. Did you mean '--convert'?"),
    (["--uplod", "s3://media", "--upload-region", "eu"], "Unknown option '--uplod'. Did you mean '--upload'?"),
    (["inspect", "--atach-as", "url"], "Unknown option '--atach-as'. Did you mean '--attach-as'?"),
    (["work", "--queue", "sqlite:q", "--metrik", "9000"], "Unknown option '--metrik'. Did you mean '--metrics'?"),
    (["batch", "--outptu", "out", "in"], "Unknown option '--outptu'. Did you mean '--output'?"),
    (["deliver", "--queue", "sqlite:q", "--htpp", "https://push.example"], "Unknown option '--htpp'. Did you mean '--http'?"),
    (["push", "-", "--apsn"], "Unknown option '--apsn'. Did you mean '--apns'?"),
    (["push", "-", "--apns", "--apns-kye", "AuthKey.p8"], "Unknown option '--apns-kye'. Did you mean '--apns-key'?"),
    (["rehearse", "--extention", "A.swift"], "Unknown option '--extention'. Did you mean '--extension'?"),
    (["record", "bad-day.yml", "--dedline", "2s"], "Unknown option '--dedline'. Did you mean '--deadline'?"),
    (["enqueue", "--quue", "sqlite:q"], "Unknown option '--quue'. Did you mean '--queue'?"),
    (["purge", "--queue", "sqlite:q", "--oder-than", "7d"], "Unknown option '--oder-than'. Did you mean '--older-than'?"),
    (["preview", "in", "-o", "page.html", "--aap", "A"], "Unknown option '--aap'. Did you mean '--app'?"),
  ])
  func `an option that the command does not know is named, whatever else seems wrong`(arguments: [String], message: String) async throws {
    let run = try await AttacheTool().start(arguments).finished()
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.hasPrefix("Error: \(message)\n"), "\(run.errors)")
  }

  @Test(arguments: [["--bogus"], ["extra"], ["store", "prune", "extra"], ["reasons", "extra"], ["--deadline"]])
  func `what no command knows ends with 64`(arguments: [String]) async throws {
    let run = try await AttacheTool().start(arguments).finished()
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains("--help"))
  }
}
