import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache enqueue`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct EnqueueTests {
  private static let lines = "{\"id\":1}\n\nno json\r\n{\"id\":2}"

  @Test(arguments: [true, false])
  func `what was enqueued comes out byte for byte`(fromFile: Bool) async throws {
    let queue = try QueueTool()
    let file = queue.tool.home["payloads"]
    try Self.lines.write(toFile: file, atomically: true, encoding: .utf8)
    let run = try await queue.run("enqueue", fromFile ? [file] : [], input: fromFile ? "" : Self.lines)
    #expect(run.exit == .status(0))
    #expect(run.output == [])
    #expect(run.errors == "attache: 4 payloads enqueued in \(queue.queue)\n")
    #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    #expect(try await queue.run("results").text == Self.lines)
  }

  @Test(arguments: [("bytes", 4, 0), ("id", 3, 1), ("/id", 3, 1)])
  func `enqueuing twice is once`(dedupe: String, known: Int, added: Int) async throws {
    let queue = try QueueTool()
    #expect(try await queue.run("enqueue", ["--dedupe", dedupe], input: "{\"id\":1}\n{\"id\":2}\n{\"id\":2 }\n{}\n").exit == .status(0))
    let run = try await queue.run("enqueue", ["--dedupe", dedupe], input: "{\"id\":1}\n{\"id\":2}\n{\"id\":2 }\n{}\n")
    #expect(run.exit == .status(0))
    #expect(
      run.errors == "attache: \(added) payload\(added == 1 ? "" : "s") enqueued in \(queue.queue), \(known) were already there\n")
  }

  @Test func `values of another type, and halves of surrogate pairs, are other keys`() async throws {
    let queue = try QueueTool()
    let ids = ["1", #""1""#, "true", #""true""#, #""\ud83d""#, #""\ud83e""#, #""\ufffd""#, #""caf\u00e9""#, #""cafe\u0301""#]
    let lines = ids.map { "{\"id\":\($0)}\n" }.joined()
    let first = try await queue.run("enqueue", ["--dedupe", "id"], input: lines)
    #expect(first.errors == "attache: \(ids.count) payloads enqueued in \(queue.queue)\n")
    let again = try await queue.run("enqueue", ["--dedupe", "id"], input: lines + #"{"id":"\u0031"}"# + "\n")
    #expect(again.errors == "attache: 0 payloads enqueued in \(queue.queue), \(ids.count + 1) were already there\n")
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `a signal ends it with 75 at the end of the line at hand, and what was read is in the queue`(signal: Int32) async throws {
    let queue = try QueueTool()
    let pipe = try TestPipe()
    let program = try queue.start("enqueue") { $0.input = .descriptor(pipe.readEnd) }
    pipe.write("{}\n{}\n{\"half")
    _ = try await queue.state { $0.ready == 2 }
    program.send(signal)
    await program.signalsAreTaken()
    pipe.write("\":1}\n{\"next\":1}\n")
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.errors.hasSuffix("attache: 3 payloads enqueued in \(queue.queue)\n"))
    #expect(await pipe.readLine() == "{\"next\":1}")
    _ = try await queue.run("work", ["--once"])
    #expect(try await queue.run("results").text == "{}\n{}\n{\"half\":1}\n")
  }

  @Test
  func `it says what it waits for after a signal; a second one ends it at once, and the beginning of the line at hand is in the queue`()
    async throws
  {
    let queue = try QueueTool()
    let program = try queue.start("enqueue")
    program.input.write("{}\n{\"half")
    _ = try await queue.state { $0.ready == 1 }
    program.send(SIGTERM)
    let errors = await program.errors(holding: "another signal does not wait for it\n")
    #expect(errors.contains("stopping: a half-read line has 30 s to end; "))
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.errors.contains("attache: line 2 of <stdin> was incomplete when reading stopped: its beginning is in the queue\n"))
    #expect(try await queue.state().total == 2)
  }

  @Test func `a signal ends it while it waits for somebody to open the pipe that it reads`() async throws {
    let queue = try QueueTool()
    #expect(unsafe mkfifo(queue.tool.home["in"], 0o600) == 0)
    let program = try queue.start("enqueue", [queue.tool.home["in"]])
    await program.handles(SIGTERM)
    program.send(SIGTERM)
    #expect(await program.exit() == .status(75))
  }

  @Test func `what is due later waits, and what has expired gets its original without any network`() async throws {
    let queue = try QueueTool()
    let payload = Sample.payload("https://192.0.2.1/a.png") + "\n"
    for (flags, ready) in [(["--not-before", "+1h"], 0), (["--not-before", "2020-01-01T00:00:00Z"], 1), (["--not-before", "1"], 2)] {
      #expect(try await queue.run("enqueue", flags, input: "{}\n").exit == .status(0))
      #expect(try await queue.state().ready == ready)
    }
    #expect(try await queue.state().waiting == 1)
    let expired = try QueueTool()
    #expect(try await expired.run("enqueue", ["--expires-at", "1"], input: payload).exit == .status(0))
    #expect(try await expired.run("work", ["--once"]).exit == .status(0))
    #expect(try await expired.run("results").text == payload)
    #expect(try await expired.run("results", ["--report"]).text.contains("queue.expired"))
  }

  @Test func `an envelope's expiration counts`() async throws {
    let queue = try QueueTool()
    let line = #"{"message":{"apns":{"headers":{"apns-expiration":"1"},"payload":{"aps":{"alert":"Hello"}}}}}"# + "\n"
    #expect(try await queue.run("enqueue", ["--not-before", "+1h"], input: line).exit == .status(0))
    #expect(try await queue.state().ready == 1)
  }

  @Test func `messages are JSON where that is asked for`() async throws {
    let queue = try QueueTool()
    let run = try await queue.run("enqueue", ["--log-format", "json"], input: "{}\n")
    #expect(run.errors.hasPrefix("{\"time\":\"2"))
    #expect(run.errors.hasSuffix("Z\",\"level\":\"info\",\"message\":\"1 payload enqueued in \(queue.queue)\"}\n"))
  }

  @Test func `a closed standard input ends with 74`() async throws {
    let queue = try QueueTool()
    let run = try await queue.run("enqueue") { $0.input = .closed }
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("attache: <stdin>: Bad file descriptor\n"))
  }

  @Test(arguments: [("/nowhere/payloads", "No such file or directory"), ("/", "Is a directory")])
  func `a file that cannot be read ends with 74`(file: String, reason: String) async throws {
    let run = try await QueueTool().run("enqueue", [file])
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("attache: \(file): \(reason)\n"))
  }

  @Test func `a file that is not there makes no queue`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", ["/nowhere/payloads"])
    #expect(try await queue.run("queue").exit == .status(69))
  }

  @Test func `a queue that cannot be made ends with 69`() async throws {
    for path in ["/nowhere/queue", "/"] {
      let run = try await QueueTool(path: path).run("enqueue", input: "{}\n")
      #expect(run.exit == .status(69), "\(path)")
      #expect(run.errors.hasPrefix("attache: /"), "\(run.errors)")
    }
  }

  @Test func `a line that is too long is named, and the others are in the queue`() async throws {
    let queue = try QueueTool()
    let run = try await queue.run("enqueue", input: "{}\n" + String(repeating: "x", count: 64 << 20) + "x\n{}\n")
    #expect(run.exit == .status(65))
    #expect(run.errors.hasSuffix("attache: line 2 of <stdin> is longer than 64 MiB and was skipped\n"))
    #expect(try await queue.state().total == 2)
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"))
  func `a disk that is full ends with 74 and says where to go on`() async throws {
    let tool = try QueueTool()
    let disk = try MemoryDisk(at: tool.tool.home["disk"], size: "1m")
    defer { disk.unmount() }
    let queue = try QueueTool(path: disk.path + "/queue")
    #expect(try await queue.run("enqueue", input: "{}\n").exit == .status(0))
    let line = #"{"text":""# + String(repeating: "x", count: 989) + "\"}\n"
    let run = try await queue.run("enqueue", input: String(repeating: line, count: 3_000))
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("free space and start again: nothing is lost"))
    let found = try #require(run.errors.firstMatch(of: /line (\d+) and the lines after it are not in the queue/))
    disk.fill()
    unsafe unlink(disk.path + "/filler")
    // Payloads that the command reports as added are in the queue.
    #expect(try await queue.state().total == Int(found.1) ?? 0)
  }
}
