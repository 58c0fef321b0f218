import AttacheTesting
import Foundation
import Testing

/// Rules for every command of a queue.
@Suite(.timeLimit(.minutes(1)))
struct QueueUsageTests {
  private static let commands = ["enqueue", "work", "deliver", "results", "queue", "retry", "purge", "batch", "push"]

  @Test(arguments: commands)
  func `each has its help, in either way`(command: String) async throws {
    let tool = try AttacheTool()
    let (one, other) = (try await tool.run([command, "--help"]), try await tool.run(["help", command]))
    #expect(one.exit == .status(0) && other.exit == .status(0))
    #expect(one.text.contains("USAGE: attache \(command) "), "\(one.text)")
    #expect(one.output == other.output)
    #expect(one.errors == "" && other.errors == "")
    #expect(try await tool.run(["--help"]).text.contains("\n  \(command) "))
  }

  @Test(arguments: ["work", "results", "queue", "retry", "purge"])
  func `a queue that is not there ends with 69, and is not made`(command: String) async throws {
    let queue = try QueueTool()
    let run = try await queue.run(command, command == "purge" ? ["--older-than", "1d"] : [])
    #expect(run.exit == .status(69))
    #expect(run.output == [])
    #expect(run.errors.contains("there is no such queue"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: queue.tool.home["queue"]))
  }

  @Test(arguments: ["results", "queue", "retry", "work"])
  func `what is no queue ends with 69`(command: String) async throws {
    let queue = try QueueTool()
    try "no database\n".write(toFile: queue.tool.home["queue"], atomically: true, encoding: .utf8)
    #expect(try await queue.run(command).exit == .status(69))
    #expect(try await queue.run("enqueue", input: "{}\n").exit == .status(69))
    #expect(try String(contentsOfFile: queue.tool.home["queue"], encoding: .utf8) == "no database\n")
  }

  private static let mistakes: [(arguments: [String], advice: String)] = [
    (["enqueue"], "--queue <queue>"), (["enqueue", "--queue", "push.db"], "sqlite:PATH"), (["queue", "--queue", "redis:x"], "sqlite:PATH"),
    (["results", "--queue", "sqlite:"], "sqlite:PATH"), (["batch", "x", "--queue", "redis:x"], "sqlite:PATH"),
    (["enqueue", "--queue", "postgresql://db1"], "names its database"),
    (["work", "--queue", "postgresql://db1/push", "--base-url", "https://cdn.example/"], "needs --upload s3://BUCKET"),
    (["work", "--queue", "postgresql://localhost/push"], "is for a queue of one machine: sqlite:PATH"),
    (["batch", "x", "--queue", "postgresql://db1/push"], "needs --upload s3://BUCKET"),
    (["results", "--queue", "sqlite:x", "--queue-timeout", "0s"], "--queue-timeout must be more than 0"),
    (["batch", "x", "--queue-timeout", "soon"], "--queue-timeout <time>"),
    (["enqueue", "--queue", "sqlite:x", "--priority", "11"], "at least 1 and at most 10"),
    (["enqueue", "--queue", "sqlite:x", "--priority", "high"], "--priority <n>"),
    (["enqueue", "--queue", "sqlite:x", "--not-before", "tomorrow"], "2026-11-21T18:00:00Z"),
    (["enqueue", "--queue", "sqlite:x", "--expires-at", "1800000000000"], "seconds since 1970"),
    (["enqueue", "--queue", "sqlite:x", "--expires-at", "+10"], "+10m"),
    (["enqueue", "--queue", "sqlite:x", "--dedupe", "a..b"], "one dot"),
    (["enqueue", "--queue", "sqlite:x", "--payload-path", "/~"], "write ~0"),
    (["enqueue", "--queue", "sqlite:x", "--sync", "soon"], "always"),
    (["enqueue", "--queue", "sqlite:x", "--follow"], "--follow needs --folder IN"),
    (["enqueue", "--queue", "sqlite:x", "--folder", "in", "file"], "--folder takes the place of a file"),
    (["deliver", "--queue", "sqlite:x"], "or --folder OUT"),
    (["deliver", "--queue", "sqlite:x", "--folder", "out", "--", "cat"], "one of them"),
    (["deliver", "--queue", "sqlite:x", "--folder", "out", "--http", "http://127.0.0.1/"], "one of them"),
    (["deliver", "--queue", "sqlite:x", "--folder", "out", "--each"], "need a command"),
    (["deliver", "--queue", "sqlite:x", "--folder", "out", "--cacert", "/etc/ssl/certs/ca-certificates.crt"], "--cacert needs"),
    (["work", "--queue", "dir:x"], "sqlite:PATH"),
    (["purge", "--queue", "sqlite:x"], "--older-than <time>"), (["purge", "--queue", "sqlite:x", "--older-than", "old"], "12h or 7d"),
    (["work", "--queue", "sqlite:x", "--metrics", "70000"], "--metrics <[address:]port>"),
    (["work", "--queue", "sqlite:x", "--metrics", "::1:9464"], "--metrics <[address:]port>"),
    (["work", "--queue", "sqlite:x", "--metrics", "0.0.0.0:9464"], "it needs --metrics-bearer-file FILE"),
    (["deliver", "--queue", "sqlite:x", "--metrics", "[::]:9464", "--", "cat"], "it needs --metrics-bearer-file FILE"),
    (["work", "--queue", "sqlite:x", "--metrics-bearer-file", "token"], "--metrics-bearer-file needs --metrics."),
    (["results", "--queue", "sqlite:x", "more"], "more"),
    (["push", "-", "--apns-connections", "2"], "--apns-connections needs --apns"),
    (["push", "-", "--apns-key-id", "A"], "--apns-key-id needs --apns"),
    (["push", "-", "--apns-team-id", "A"], "--apns-team-id needs --apns"),
    (["push", "-", "--apns-push-type", "alert"], "--apns-push-type needs --apns"),
    (["push"], "<file>"), (["push", "-"], "--apns"), (["push", "-", "--apns-sandbox"], "--apns-sandbox needs --apns"),
    (["push", "-", "--apns", "--apns-certificate", "x", "--apns-team-id", "A"], "need --apns-key"),
    (["push", "-", "--apns", "--apns-host", "http://x"], "--apns-host <host[:port]>"),
    (["push", "-", "--apns", "--apns-host", "x", "--apns-sandbox"], "give one of them"),
    (["push", "-", "--apns", "--apns-push-type", "loud"], "alert, background"),
    (["push", "-", "--apns", "--apns-connections", "0"], "at least 1"),
    (["push", "-", "--apns", "--cacert", "/missing"], "cannot be read"),
    (["work", "--queue", "sqlite:x", "--fetchers", "0"], "--fetchers"),
    (["work", "--queue", "sqlite:x", "--attempts", "0"], "--attempts"),
  ]

  @Test(arguments: mistakes)
  func `a wrong use ends with 64 and says what is right`(arguments: [String], advice: String) async throws {
    let run = try await AttacheTool().run(arguments)
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test(arguments: [
    "mysql://me:secret@db/push", "postgresql://me:secret@db/push", "postgresql://db/push?password=secret",
    "postgresql://db/push?colour=secret",
  ])
  func `an address that is wrong is not repeated, since it may contain a password`(address: String) async throws {
    let run = try await AttacheTool().run(["queue", "--queue", address])
    #expect(run.exit == .status(64))
    #expect(!run.errors.contains("secret"), "\(run.errors)")
  }

  @Test func `a queue can be removed with everything in it`() async throws {
    let queue = try QueueTool()
    try await queue.work("{}\n")
    _ = try await queue.run("enqueue", input: "{}\n")
    let run = try await queue.run("purge", ["--older-than", "0s", "--include-undelivered", "--drop-queue"])
    #expect(run.exit == .status(0))
    #expect(run.errors == "attache: 1 payload selected\nattache: 1 payload removed\n")
    #expect(!FileManager.default.fileExists(atPath: queue.tool.home["queue"]))
    #expect(try await queue.run("purge", ["--help"]).text.contains("drop-queue") == false)
  }

  @Test func `without the executable beside it, attache says where it belongs`() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: AttacheTool.folder + "/attache", toPath: folder["attache"])
    let run = try await AttacheTool().run(["queue", "--queue", "sqlite:x"]) { $0.path = folder["attache"] }
    #expect(run.exit == .status(69))
    #expect(run.errors.contains("scripts/install installs attache-tools beside attache"))
  }

  @Test func `the executable beside says its version as attache does`() async throws {
    let tool = try AttacheTool()
    let run = try await tool.run(["--version"]) { $0.path = AttacheTool.folder + "/attache-tools" }
    #expect(run.exit == .status(0))
    #expect(try await tool.run(["--version"]).output == run.output)
  }
}
