import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache work --metrics` and `--metrics-file`, by the built tool and real sockets.
@Suite(.timeLimit(.minutes(1)))
struct FiguresTests {
  /// A running worker whose queue has these lines, and its port.
  private func working(_ queue: QueueTool, _ lines: String = "", _ flags: [String] = []) async throws -> (Program, UInt16) {
    _ = try await queue.run("enqueue", input: lines)
    let program = try queue.start("work", ["--metrics", "0"] + QueueTool.loopback + flags)
    return (program, try await program.figuresPort())
  }

  @Test func `the figures are served on loopback alone, and health beside them`() async throws {
    let queue = try QueueTool()
    let (program, port) = try await working(queue, "{}\nno json\n")
    let figures = try await LoopbackClient.ask(port, "/metrics") {
      $0.body.contains("attache_payloads_total{outcome=\"passthrough\",reason=\"payload.no-alert\"} 1\n")
    }
    #expect(figures.status == 200)
    #expect(figures.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
    #expect(try await LoopbackClient.ask(port, "/readyz") { $0.status == 200 }.body == "ok\n")
    #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
    #expect(try await LoopbackClient.ask(port, "/").status == 404)
    #expect(try await LoopbackClient.ask(port, "/metrics", method: "POST").status == 405)
    #expect(try await LoopbackClient.ask(port, "/metrics", method: "HEAD").head.contains("Allow: GET"))
    #expect(try Self.listeners(port) == ["0100007F"])
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.output == [])
  }

  /// The addresses, as the kernel writes them, on which a process listens at a port that is in use.
  ///
  /// The kernel's table is no snapshot: while other processes open and close sockets, a read may miss
  /// a row or have it twice.
  private static func listeners(_ port: UInt16) throws -> Set<String> {
    let hexadecimal = String(format: ":%04X", port)
    while true {
      let text = try ["/proc/net/tcp", "/proc/net/tcp6"].map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
      let found = text.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 3 && words[1].hasSuffix(hexadecimal) && words[3] == "0A" ? String(words[1].dropLast(5)) : nil
      }
      if !found.isEmpty { return Set(found) }
    }
  }

  @Test func `a filter serves its figures while it runs, and none without the flag`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let program = try tool.start(["--metrics", "0"] + QueueTool.loopback)
      program.input.write(
        Sample.plain + "\n" + Sample.payload(origin.url("/a.png")) + "\n" + Sample.payload(origin.url("/none.png")) + "\n")
      let port = try await program.figuresPort()
      let figures = try await Figures.of(port) { $0["attache_payload_duration_seconds_count"] == 2 && $0["attache_lines_total"] == 3 }
      for (name, value) in [
        ("attache_payloads_total{outcome=\"attached\",reason=\"\"}", 1.0),
        ("attache_payloads_total{outcome=\"fallback\",reason=\"http.status\"}", 1),
        ("attache_media_total{cache=\"miss\"}", 2), ("attache_fetch_duration_seconds_count", 2),
      ] { #expect(figures[name] == value, "\(name)") }
      #expect(figures["process_resident_memory_bytes"].map { $0 > 0 } == true)
      #expect(try await LoopbackClient.ask(port, "/readyz").body == "ok\n")
      program.input.close()
      #expect(await program.exit() == .status(0))
    }
    let refused = try await AttacheTool().run(["--metrics", "0.0.0.0:0"], input: "")
    #expect(refused.exit == .status(64))
    #expect(refused.errors.contains("it needs --metrics-bearer-file FILE"))
  }

  @Test func `a worker says at its start, in one line, what it does`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let run = try await queue.run("work", ["--once", "--deadline", "2s", "--jobs", "7"])
    #expect(
      run.errors.hasPrefix(
        "attache: works on \(queue.queue): 7 payloads at a time; 2s and 3 attempts for each; 16 requests at a time to an origin; "
          + "files up to image=10000000,audio=5000000,video=50000000 bytes; no uploads\n"), "\(run.errors)")
  }

  @Test func `with a file of a token, only requests that have it are answered`() async throws {
    let queue = try QueueTool()
    let file = queue.tool.home["token"]
    try "s3cret\n".write(toFile: file, atomically: false, encoding: .utf8)
    _ = try await queue.run("enqueue", input: "{}\n")
    func run() async throws -> Run { try await queue.run("work", ["--once", "--metrics", "127.0.0.2:0", "--metrics-bearer-file", file]) }
    #expect(unsafe chmod(file, 0o644) == 0)
    let readable = try await run()
    #expect(readable.exit == .status(65))
    #expect(readable.errors.contains("--metrics-bearer-file: others may read \(file); run chmod 600 \(file)"), "\(readable.errors)")
    #expect(unsafe chmod(file, 0o600) == 0)
    let (program, port) = try await working(queue, "", ["--metrics-bearer-file", file])
    for (path, field, status) in [
      ("/metrics", "Authorization: Bearer s3cret", 200), ("/livez", "authorization: bearer s3cret", 200), ("/metrics", "X: y", 401),
      ("/readyz", "Authorization: Bearer s3crea", 401), ("/", "Authorization: Bearer s3cre", 401),
      ("/metrics", "Authorization: s3cret", 401),
    ] {
      let answer = try await LoopbackClient.ask(port, path, fields: [field])
      #expect(answer.status == status, "\(path), \(field): \(answer)")
      if status == 401 {
        #expect(answer.head.contains("WWW-Authenticate: Bearer"))
        #expect(answer.body == "give the token of --metrics-bearer-file, as Authorization: Bearer TOKEN\n")
      }
    }
    let other = try await run()
    #expect(other.errors.contains("attache: metrics at http://127.0.0.2:"), "\(other.errors)")
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
    try "\n".write(toFile: file, atomically: false, encoding: .utf8)
    let empty = try await run()
    #expect(empty.exit == .status(65))
    #expect(empty.errors.contains("is not a token; write one line of ASCII without blanks to it"), "\(empty.errors)")
  }

  @Test func `a worker that drains is alive and not ready`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let queue = try QueueTool()
      let (program, port) = try await working(queue, Sample.payload(origin.url("/a.png")) + "\n")
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      let ready = try await LoopbackClient.ask(port, "/readyz") { $0.body.hasPrefix("draining") }
      #expect(ready.status == 503)
      #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
      #expect(try await LoopbackClient.ask(port, "/metrics").body.contains("\nattache_payloads_in_flight 1\n"))
      let errors = await program.errors(holding: "another signal returns them to the queue\n")
      #expect(errors.contains("stopping: payloads in progress have --deadline to end; "))
      origin.release("/a.png")
      #expect(await program.exit() == .status(0))
    }
  }

  @Test func `idle connections take neither the server nor the descriptors of the worker`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let queue = try QueueTool()
      _ = try await queue.run("enqueue", input: "{}\n")
      let program = try queue.start("work", ["--metrics", "0", "--jobs", "4"] + QueueTool.loopback) { launch in
        launch.arguments = ["--nofile=160", launch.path] + launch.arguments
        launch.path = "/usr/bin/prlimit"
      }
      let port = try await program.figuresPort()
      let strangers = try (0..<400).map { _ in try LoopbackClient.connect(to: port) }
      defer { for stranger in strangers { close(stranger) } }
      #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
      _ = try await queue.run("enqueue", input: Sample.payload(origin.url("/a.png")) + "\n")
      let figures = try await Figures.of(port) { $0["attache_payloads_total{outcome=\"attached\",reason=\"\"}"] == 1 }
      #expect(figures["attache_queue_up"] == 1)
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(!run.errors.contains("Too many open files"))
    }
  }

  @Test func `a server that gets no descriptor says so once, and serves again when it gets one`() async throws {
    let queue = try QueueTool()
    let (program, port) = try await working(queue)
    _ = try await LoopbackClient.ask(port, "/readyz") { $0.status == 200 }
    func limit(_ count: String) async throws {
      let run = try Program(
        Launch(path: "/usr/bin/prlimit", arguments: ["--pid", "\(program.process)", "--nofile=\(count)"], environment: [:]))
      #expect(await run.exit() == .status(0))
    }
    try await limit("3:1024")
    let stranger = try LoopbackClient.connect(to: port)
    defer { close(stranger) }
    #expect(
      await program.errors(holding: "every second\n").contains(
        "attache: the metrics cannot be served: accept: Too many open files; raise the limit on open files (ulimit -n), which is 3"))
    try await limit("1024:1024")
    #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
    #expect(try program.ticks(ofThreads: "scrapes") < 30, "hundredths of a second; it pauses after each failure")
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.errors.split(separator: "cannot be served").count == 2)
  }

  @Test func `a start with too few descriptors ends with a message and a status, never with a crash`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    for count in 4...20 {
      let run = try await queue.run("work", ["--once", "--metrics", "0"] + QueueTool.loopback) { launch in
        launch.arguments = ["--nofile=\(count)", launch.path] + launch.arguments
        launch.path = "/usr/bin/prlimit"
      }
      #expect(run.exit == .status(70), "\(count): \(run.exit) \(run.errors)")
      #expect(run.errors.contains("(ulimit -n), which is \(count)") || run.errors.contains("(ulimit -n) is \(count)"), "\(run.errors)")
    }
  }

  @Test func `requests that are none are refused`() async throws {
    let (program, port) = try await working(QueueTool())
    #expect(try await LoopbackClient.ask(port, "/metrics x").status == 400)
    #expect(try await LoopbackClient.ask(port, "metrics").status == 400)
    #expect(try await LoopbackClient.ask(port, "/" + String(repeating: "x", count: 20_000)).status == 431)
    #expect(try await LoopbackClient.ask(port, "http://127.0.0.1/livez?x=1").status == 200)
    #expect(try await LoopbackClient.ask(port, "/nothing", method: "HEAD").body == "")
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
  }

  @Test func `the file has the last figures when the worker has ended`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let queue = try QueueTool()
      let file = queue.tool.home["attache.prom"]
      _ = try await queue.run("enqueue", input: Sample.payload(origin.url("/a.png")) + "\n{}\n")
      #expect(try await queue.run("work", ["--once", "--metrics-file", file] + QueueTool.loopback).exit == .status(0))
      let text = try String(contentsOfFile: file, encoding: .utf8)
      for line in [
        "attache_payloads_total{outcome=\"attached\",reason=\"\"} 1", "attache_queue_payloads{state=\"done\"} 2",
        "attache_queue_unread_results 2", "attache_fetch_duration_seconds_count 1", "attache_media_total{cache=\"miss\"} 1",
        "attache_payloads_in_flight 0", "attache_queue_up 1", "attache_payload_duration_seconds_count 2", "attache_conversions_total 0",
      ] {
        #expect(text.contains("\n\(line)\n"), "\(line)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: queue.tool.home.path).filter { $0.contains(".tmp") } == [])
    }
  }

  @Test func `a port that is taken ends with 69, and a file that cannot be written with 73`() async throws {
    let queue = try QueueTool()
    let (program, port) = try await working(queue)
    let taken = try await queue.run("work", ["--once", "--metrics", "\(port)"])
    #expect(taken.exit == .status(69))
    #expect(taken.errors.contains("--metrics 127.0.0.1:\(port): Address already in use"))
    let none = try await queue.run("work", ["--once", "--metrics-file", "/nowhere/attache.prom"])
    #expect(none.exit == .status(73))
    #expect(none.errors.contains("--metrics-file /nowhere/attache.prom: open: No such file or directory"))
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
  }
}
