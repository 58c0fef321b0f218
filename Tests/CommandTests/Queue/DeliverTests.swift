import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache deliver`, by the built tool, to senders in the shell and in Python.
@Suite(.timeLimit(.minutes(1)))
struct DeliverTests {
  static let lines = (1...20).map { "{\"n\":\($0)}\n" }.joined()

  /// A queue whose payloads have results.
  func queue(_ lines: String = Self.lines) async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work(lines)
    return queue
  }

  func deliver(_ queue: QueueTool, _ arguments: [String], _ sender: [String]) async throws -> Run {
    try await queue.run("deliver", ["--once"] + arguments + ["--"] + sender)
  }

  /// A shell sender that gets a file of the test as `$1` and runs this text with each line in
  /// `$line`.
  func shell(_ body: String, _ file: String = "") -> [String] {
    ["sh", "-c", "while IFS= read -r line; do \(body); done", "sender", file]
  }

  func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

  @Test(arguments: [
    (["--rate", "500/s", "--", "sh", "-c", "exit 3", "password"], "sh: 64 unanswered at a time; 60s for an answer; at most 500/s"),
    (
      ["--ordered", "--jobs", "2", "--http", "http://user:password@127.0.0.1:1/push?key=password"],
      "http://127.0.0.1:1: 2 unanswered at a time; 60s for an answer; no limit on the rate; in the order enqueued"
    ),
  ])
  func `it says at its start, in one line, what it does, and no password`(arguments: [String], line: String) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue")
    let run = try await queue.run("deliver", ["--once"] + arguments)
    #expect(run.exit == .status(0))
    #expect(run.errors.hasPrefix("attache: delivers \(queue.queue) to \(line)\n"), "\(run.errors)")
    #expect(!run.errors.contains("password"))
  }

  @Test func `each result goes to the sender once, byte for byte, and is over when it says ok`() async throws {
    let queue = try await queue()
    let got = queue.tool.home["got"]
    let run = try await deliver(queue, [], shell("printf '%s\\n' \"$line\" >>\"$1\"; echo ok", got))
    #expect(run.exit == .status(0))
    #expect(run.text == "")
    #expect(run.errors.contains("attache: delivered 20, dropped 0, poison 0, expired 0, retried 0 in "))
    #expect(text(got) == Self.lines)
    #expect(try await queue.state().unread == 0)
    #expect(try await deliver(queue, [], shell("echo no answer")).exit == .status(0))
  }

  /// poll(2) fails when it gets more descriptors than the limit allows.
  @Test func `a deliverer whose wait fails says so once, and goes on when it can wait again`() async throws {
    let queue = try await queue("{}\n")
    let file = queue.tool.home["answer"]
    let program = try queue.start(
      "deliver", ["--"] + shell("echo >\"$1.taken\"; until [ -e \"$1\" ]; do sleep 0.01; done; echo ok", file))
    func limit(_ count: String) async throws {
      let run = try Program(
        Launch(path: "/usr/bin/prlimit", arguments: ["--pid", "\(program.process)", "--nofile=\(count)"], environment: [:]))
      #expect(await run.exit() == .status(0))
    }
    while text(file + ".taken").isEmpty { await Task.yield() }
    try await limit("1:1024")
    try Data().write(to: URL(fileURLWithPath: file))
    _ = await program.errors(holding: "the sender is delayed: poll: Invalid argument; it is tried again every 100 ms\n")
    try await limit("1024:1024")
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 1, dropped 0"))
    #expect(run.errors.split(separator: "is delayed").count == 2)
  }

  @Test func `a sender that dies after 10 of 20 loses nothing, and only what it had not answered comes again`() async throws {
    let queue = try await queue()
    let (got, answered) = (queue.tool.home["got"], queue.tool.home["answered"])
    let body = """
      echo "$line" >>"$1"; [ -e "$1.died" ] || [ "$(wc -l <"$1")" -lt 10 ] || { : >"$1.died"; kill -9 $$; }; echo "$line" >>"\(answered)"; echo ok
      """
    let run = try await deliver(queue, [], shell(body, got))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("the sender was killed by signal 9"))
    #expect(run.errors.contains("sender restarted 1 time"))
    #expect(
      text(answered).split(separator: "\n").map { "\($0)\n" }.sorted() == Self.lines.split(separator: "\n").map { "\($0)\n" }.sorted())
    #expect(text(got).split(separator: "\n").count == 21)
  }

  @Test func `a retry comes again after its span, and a drop never`() async throws {
    let queue = try await queue("{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
    let got = queue.tool.home["got"]
    let body = """
      echo "$line" >>"$1"; case $line in *1*) [ "$(grep -c 1 "$1")" = 2 ] && echo ok || echo retry 1ms ;; *2*) echo drop no such token ;; *) echo ok ;; esac
      """
    let run = try await deliver(queue, [], shell(body, got))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: payload 1 is tried again later: retry 1ms\n"))
    #expect(run.errors.contains("attache: payload 2 is dropped: no such token\n"))
    #expect(run.errors.contains("attache: delivered 2, dropped 1, poison 0, expired 0, retried 1 in "))
    #expect(run.errors.hasSuffix("; answers: 2 × ok, 1 × no such token, 1 × retry 1ms\n"))
    #expect(text(got).split(separator: "\n").filter { $0.contains("1") }.count == 2)
    let history = try await queue.run("queue", ["--line", "2"])
    #expect(history.text.contains("  dropped: no such token\n"))
    #expect(try await queue.run("queue", ["--line", "1"]).text.contains("  try 1 of the delivery: retry 1ms\n"))
  }

  @Test(arguments: [
    ("echo hello", "an invalid answer in line 1: hello"), ("echo ok; echo ok", "it had already answered every result"),
    ("head -c 5000 /dev/zero | tr '\\0' x", "a line of more than 4096 bytes"),
    ("echo retry soon", "an invalid answer in line 1: retry soon"),
    ("echo \"drop $(head -c 5000 /dev/zero | tr '\\0' x)\"", "a line of more than 4096 bytes"),
  ])
  func `what is no answer stops the sender, and nothing is lost`(body: String, message: String) async throws {
    let queue = try await queue("{\"n\":1}\n")
    let mark = queue.tool.home["mark"]
    let run = try await deliver(queue, [], shell("if [ -e \"$1\" ]; then echo ok; else : >\"$1\"; \(body); sleep 100; fi", mark))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains(message))
    #expect(run.errors.contains("attache: delivered "))
  }

  @Test func `a result that ends its senders goes alone, and is given up in the end`() async throws {
    let queue = try await queue((1...5).map { "{\"n\":\($0)}\n" }.joined())
    let run = try await deliver(queue, ["--poison-after", "1"], shell("case $line in *3*) exit 7 ;; esac; echo ok"))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 4, dropped 0, poison 1, expired 0"))
    #expect(run.errors.contains("the sender ended with status 7"))
    let dead = try await queue.run("queue", ["--list", "--state", "dead"])
    #expect(dead.text.split(separator: "\n").last?.hasPrefix("3     dead") == true, "\(dead.text)")
    #expect(dead.text.contains("ended 1 sender while no other result was in flight"))
  }

  @Test func `with envelopes, answers come in any order, and name their results`() async throws {
    let queue = try await queue("{\"n\":1}\nno json\n{\"n\":3}\n")
    let sender = """
      import json, sys
      seen = []
      for line in sys.stdin:
          seen.append(json.loads(line))
          if len(seen) == 3:
              for item in reversed(seen):
                  print(json.dumps({"id": item["id"], "answer": "ok", "more": True}), flush=True)
      json.dump(seen, open(sys.argv[1], "w"))
      """
    let got = queue.tool.home["got"]
    let run = try await deliver(queue, ["--envelope"], ["python3", "-c", sender, got])
    #expect(run.exit == .status(0))
    #expect(
      text(got)
        == #"[{"id": 1, "attempt": 1, "payload": {"n": 1}}, {"id": 2, "attempt": 1, "base64": "bm8ganNvbg=="}, {"id": 3, "attempt": 1, "payload": {"n": 3}}]"#
    )
  }

  @Test func `a payload that is no JSON, or is blank, cannot forge an envelope`() async throws {
    let lines = ["{\"aps\":{}},\"id\":99,\"x\":{\"y\":1}", "", "{\"n\":1}\r", "[1"]
    let queue = try await queue(lines.map { "\($0)\n" }.joined())
    let sender = """
      import base64, json, sys
      out = open(sys.argv[1], "a")
      for line in sys.stdin:
          item = json.loads(line)
          text = json.dumps(item["payload"]) if "payload" in item else base64.b64decode(item["base64"]).decode()
          print(item["id"], sorted(item), text, file=out, flush=True)
          print(json.dumps({"id": item["id"], "answer": "ok"}), flush=True)
      """
    let got = queue.tool.home["got"]
    #expect(try await deliver(queue, ["--envelope"], ["python3", "-c", sender, got]).exit == .status(0))
    let keys = "['attempt', 'base64', 'id']"
    #expect(
      text(got) == "1 \(keys) \(lines[0])\n2 \(keys) \n3 ['attempt', 'id', 'payload'] {\"n\": 1}\n4 \(keys) [1\n")
  }

  @Test func `a sender that never works gives up no payload`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let program = try queue.start("deliver", ["--poison-after", "1", "--", "sh", "-c", "exit 9"])
    // Three ends would be enough if one had answered.
    _ = try await queue.history(1) { $0.contains("try 6 of the delivery: the sender ended with status 9") }
    program.send(SIGTERM)
    await program.signalsAreTaken()
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.errors.contains("poison 0"))
    #expect(try await queue.state().unread == 1)
  }

  @Test func `a signal while no sender runs starts none`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let mark = queue.tool.home["starts"]
    let program = try queue.start("deliver", ["--", "sh", "-c", "echo start >>\"$1\"; exit 3", "sender", mark])
    _ = try await queue.history(1) { $0.contains("try 4 of the delivery") }
    program.send(SIGTERM)
    #expect(await program.finished().exit == .status(75))
    let starts = text(mark).split(separator: "\n").count
    #expect(starts <= 5)
    #expect(try await queue.state().unread == 1)
  }

  @Test func `a sender that closes its output is stopped, and the next one goes on`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let run = try await deliver(
      queue, [], ["sh", "-c", "if [ -e \"$1\" ]; then echo ok; else : >\"$1\"; exec >&-; sleep 100; fi", "sender", queue.tool.home["mark"]])
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("closed its output and was stopped"))
  }

  @Test func `a command that is not found pauses the deliverer and drops nothing`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let program = try queue.start("deliver", ["--each", "--", "sh", "-c", "no-such-command-at-all"])
    #expect(await program.errors(holding: "paused: ").contains("the command is not found (status 127)"))
    program.send(SIGTERM)
    #expect(await program.finished().exit == .status(75))
    #expect(try await queue.state().unread == 1)
  }

  @Test(arguments: [["--rate", "40/s"], ["--ordered"], []])
  func `a result that ends two senders goes alone, and the rest is not kept from going`(arguments: [String]) async throws {
    let queue = try await queue((1...6).map { "{\"n\":\($0)}\n" }.joined())
    let body = """
      case $line in *3*) echo x >>"$1"; [ "$(wc -l <"$1")" -gt 2 ] || exit 5 ;; esac; echo ok
      """
    let run = try await deliver(queue, arguments, shell(body, queue.tool.home["ends"]))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 6, dropped 0, poison 0"))
  }

  @Test(arguments: [[], ["--each"]])
  func `a sender inherits no socket of the figures and no descriptor of the deliverer`(arguments: [String]) async throws {
    let queue = try await queue("{\"n\":1}\n")
    let got = queue.tool.home["got"]
    // The port of the metrics is open before the sender starts. A sender that inherited it would
    // block it for the next deliverer, and each scraper would wait.
    let run = try await deliver(
      queue, ["--metrics", "0"] + arguments, ["sh", "-c", "ls -l /proc/$$/fd >\"$1\"; read -r line; echo ok", "sender", got])
    #expect(run.exit == .status(0))
    #expect(text(got).contains(" 0 -> pipe:"))
    for kind in ["socket:", "anon_inode:", queue.tool.home["queue"]] { #expect(!text(got).contains(kind), "\(text(got))") }
  }

  @Test func `the last answer of a sender that ends counts`() async throws {
    let queue = try await queue((1...5).map { "{\"n\":\($0)}\n" }.joined())
    let got = queue.tool.home["got"]
    let run = try await deliver(queue, [], ["sh", "-c", "read -r line; echo \"$line\" >>\"$1\"; echo ok", "sender", got])
    #expect(run.exit == .status(0))
    #expect(text(got).split(separator: "\n").count == 5)
  }

  @Test func `what was dropped is delivered again by retry`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    #expect(try await deliver(queue, [], shell("echo drop no token")).errors.contains("dropped 1"))
    #expect(try await queue.run("retry", ["--delivery"]).errors == "attache: 1 payload selected\nattache: 1 payload requeued\n")
    #expect(try await deliver(queue, [], shell("echo ok")).errors.contains("delivered 1, dropped 0"))
  }

  @Test func `an answer for a result that the sender does not have stops it`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let body = #"if [ -e "$1" ]; then echo '{"id":1,"answer":"ok"}'; else : >"$1"; echo '{"id":2,"answer":"ok"}'; fi"#
    let run = try await deliver(queue, ["--envelope"], shell(body, queue.tool.home["mark"]))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("it has no unanswered result with the id 2"))
  }

  @Test func `a command that fails is not taken for delivered, although the parent ignores SIGCHLD`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let run = try await queue.run("deliver", ["--once", "--each", "--", "sh", "-c", "cat >/dev/null; exit 1"]) { launch in
      launch.arguments = ["--ignore-signal=CHLD", launch.path] + launch.arguments
      launch.path = "/usr/bin/env"
    }
    #expect(run.errors.contains("delivered 0, dropped 1"), "\(run.errors)")
  }

  @Test func `a command for each payload says by its exit status what became of it`() async throws {
    let queue = try await queue("{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
    let got = queue.tool.home["got"]
    let body = """
      read -r line; echo "$ATTACHE_ID $ATTACHE_ATTEMPT $line" >>"$1"
      case $line in *2*) exit 3 ;; *3*) [ "$ATTACHE_ATTEMPT" = 2 ] || exit 75 ;; esac
      """
    let run = try await deliver(queue, ["--each", "--jobs", "2"], ["sh", "-c", body, "sender", got])
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 2, dropped 1, poison 0, expired 0, retried 1 in "))
    let expected = ["1 1 {\"n\":1}", "2 1 {\"n\":2}", "3 1 {\"n\":3}", "3 2 {\"n\":3}"]
    #expect(text(got).split(separator: "\n").map(String.init).sorted() == expected)
    #expect(try await queue.run("queue", ["--line", "2"]).text.contains("  dropped: status 3\n"))
  }

  @Test func `a sender that gives no answer is stopped, and the next one gets the result`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let body = "if [ -e \"$1\" ]; then echo ok; else : >\"$1\"; sleep 100; fi"
    let run = try await deliver(queue, ["--answer-timeout", "100ms"], shell(body, queue.tool.home["mark"]))
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("gave no answer within 0.1 s (--answer-timeout) and was stopped"))
  }

  @Test func `in order, a retry keeps what is behind it waiting`() async throws {
    let queue = try await queue()
    let got = queue.tool.home["got"]
    let body = """
      case $line in '{"n":3}') [ -e "$1.again" ] || { : >"$1.again"; echo retry 1ms; continue; } ;; esac; echo "$line" >>"$1"; echo ok
      """
    let run = try await deliver(queue, ["--ordered", "--jobs", "1"], shell(body, got))
    #expect(run.exit == .status(0))
    #expect(text(got) == Self.lines)
  }

  @Test func `expired payloads are not sent`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", ["--expires-at", "2020-01-01T00:00:00Z"], input: "{\"n\":1}\n")
    _ = try await queue.run("work", ["--once"])
    let run = try await deliver(queue, [], shell("echo drop sent"))
    #expect(run.errors.contains("attache: delivered 0, dropped 0, poison 0, expired 1, retried 0 in "))
  }

  @Test func `several deliverers share a queue, each result with one of them`() async throws {
    let queue = try await queue((1...400).map { "{\"n\":\($0)}\n" }.joined())
    let got = queue.tool.home["got"]
    let sender = shell("echo \"$line\" >>\"$1\"; echo ok", got)
    let programs = try (0..<3).map { _ in try queue.start("deliver", ["--once", "--jobs", "4", "--"] + sender) }
    for program in programs { #expect(await program.finished().exit == .status(0)) }
    #expect(Set(text(got).split(separator: "\n")).count == 400)
    #expect(text(got).split(separator: "\n").count == 400)
  }
}
