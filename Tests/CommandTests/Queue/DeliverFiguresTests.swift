import Foundation
import Glibc
import Testing

/// The metrics of `attache deliver`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct DeliverFiguresTests {
  private func queue(_ count: Int) async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...count).map { "{\"n\":\($0)}\n" }.joined())
    return queue
  }

  /// A shell sender that gets a file of the test as `$1` and runs this text with each line in
  /// `$line`.
  private func shell(_ body: String, _ file: String) -> [String] {
    ["--", "sh", "-c", "while IFS= read -r line; do \(body); done", "sender", file]
  }

  @Test func `each delivery counts by how it ended, and so do retries and senders that end`() async throws {
    let queue = try await queue(5)
    _ = try await queue.run("enqueue", ["--expires-at", "2020-01-01T00:00:00Z"], input: "{\"n\":6}\n")
    _ = try await queue.run("work", ["--once"])
    let (file, mark) = (queue.tool.home["attache.prom"], queue.tool.home["mark"])
    let body = """
      case $line in
        *2*) echo drop no such token ;;
        *3*) [ -e "$1.3" ] && echo ok || { : >"$1.3"; echo retry 1ms; } ;;
        *4*) [ -e "$1.4" ] && echo ok || { : >"$1.4"; exit 7; } ;;
        *) echo ok ;;
      esac
      """
    // One after the other, so that a sender that ends has only one result.
    let run = try await queue.run("deliver", ["--once", "--jobs", "1", "--metrics-file", file] + shell(body, mark))
    #expect(run.exit == .status(0))
    let figures = try Figures(file: file)
    for (status, count) in [("delivered", 4), ("dropped", 1), ("poison", 0), ("expired", 1)] {
      #expect(figures["attache_deliveries_total{status=\"\(status)\"}"] == Double(count), "\(status)")
    }
    for (name, value) in [
      ("attache_delivery_retries_total", 2), ("attache_sender_restarts_total", 1), ("attache_deliveries_refused_total", 0),
      ("attache_deliveries_unanswered", 0), ("attache_deliverer_paused", 0), ("attache_delivery_blocked_seconds", 0),
      ("attache_queue_up", 1), ("attache_queue_unread_results", 0), ("attache_queue_results_in_delivery", 0),
      ("attache_queue_oldest_age_seconds{state=\"done\"}", 0), ("attache_queue_payloads{state=\"done\"}", 0),
      ("attache_queue_payloads{state=\"delivered\"}", 4),
      ("attache_queue_payloads{state=\"expired\"}", 1),
      ("attache_delivery_answers_total{answer=\"ok\"}", 4), ("attache_delivery_answers_total{answer=\"no such token\"}", 1),
      ("attache_delivery_answers_total{answer=\"retry 1ms\"}", 1),
      ("attache_delivery_answers_total{answer=\"the sender ended with status 7\"}", 1),
      ("attache_delivery_answers_total{answer=\"other answers\"}", 0), ("attache_delivery_duration_seconds_count", 7),
    ] {
      #expect(figures[name] == Double(value), "\(name)")
    }
  }

  @Test func `answers of a stranger make a bounded number of figures, each on its line`() async throws {
    let queue = try await queue(40)
    let file = queue.tool.home["attache.prom"]
    let body = #"n=${line#*:}; printf 'drop a"b\\%s\033[1m: more\n' "${n%\}}""#
    #expect(try await queue.run("deliver", ["--once", "--metrics-file", file] + shell(body, "")).exit == .status(0))
    let names = try Figures(file: file).values.filter { $0.key.hasPrefix("attache_delivery_answers_total{") }
    #expect(names.count == 33)
    #expect(names[#"attache_delivery_answers_total{answer="other answers"}"#] == 8)
    #expect(names[#"attache_delivery_answers_total{answer="a\"b\\1\\u{1b}[1m"}"#] == 1, "\(names.keys)")
  }

  @Test func `a payload that ends its senders counts as poison`() async throws {
    let queue = try await queue(2)
    let file = queue.tool.home["attache.prom"]
    let arguments = ["--once", "--poison-after", "1", "--metrics-file", file]
    #expect(try await queue.run("deliver", arguments + shell("case $line in *2*) exit 7 ;; esac; echo ok", "")).exit == .status(0))
    let figures = try Figures(file: file)
    #expect(figures["attache_deliveries_total{status=\"delivered\"}"] == 1)
    #expect(figures["attache_deliveries_total{status=\"poison\"}"] == 1)
    #expect(figures["attache_sender_restarts_total"].map { $0 >= 1 } == true)
  }

  @Test func `what the sender has is unanswered until it answers, and the oldest undelivered payload has its age`() async throws {
    let queue = try await queue(3)
    let gate = queue.tool.home["gate"]
    let body = "until [ -e \"$1\" ]; do sleep 0.01; done; echo ok"
    let program = try queue.start("deliver", ["--jobs", "2", "--metrics", "0"] + shell(body, gate))
    let port = try await program.figuresPort()
    let figures = try await Figures.of(port) { $0["attache_deliveries_unanswered"] == 2 && $0["attache_queue_up"] == 1 }
    #expect(figures["attache_queue_oldest_age_seconds{state=\"done\"}"].map { $0 > 0 } == true)
    #expect(figures["attache_queue_unread_results"] == 3)
    #expect(figures["attache_deliveries_total{status=\"delivered\"}"] == 0)
    try "".write(toFile: gate, atomically: false, encoding: .utf8)
    let after = try await Figures.of(port) { $0["attache_deliveries_total{status=\"delivered\"}"] == 3 }
    #expect(after["attache_deliveries_unanswered"] == 0)
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
  }

  @Test func `a deliverer that pauses says so, and is not ready`() async throws {
    let queue = try await queue(1)
    let program = try queue.start("deliver", ["--metrics", "0", "--each", "--", "sh", "-c", "no-such-command-at-all"])
    let port = try await program.figuresPort()
    _ = try await Figures.of(port) { $0["attache_deliverer_paused"] == 1 }
    let ready = try await LoopbackClient.ask(port, "/readyz") { $0.body.hasPrefix("paused: ") }
    #expect(ready.status == 503)
    #expect(ready.body.contains("the command is not found (status 127)"))
    #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
    program.send(SIGTERM)
    #expect(await program.exit() == .status(75))
  }

  @Test func `in order, a payload that keeps the others waiting is a figure`() async throws {
    let queue = try await queue(3)
    let body = "case $line in *2*) echo retry 1h ;; *) echo ok ;; esac"
    let program = try queue.start("deliver", ["--ordered", "--jobs", "1", "--metrics", "0"] + shell(body, ""))
    let port = try await program.figuresPort()
    let first = try await Figures.of(port) { ($0["attache_delivery_blocked_seconds"] ?? 0) > 0 }
    #expect(first["attache_deliveries_total{status=\"delivered\"}"] == 1)
    #expect(first["attache_delivery_retries_total"] == 1)
    let blocked = try #require(first["attache_delivery_blocked_seconds"])
    _ = try await Figures.of(port) { ($0["attache_delivery_blocked_seconds"] ?? 0) > blocked }
    program.send(SIGTERM)
    #expect(await program.exit() == .status(75))
  }

  @Test func `every figure that the documents name is there`() async throws {
    let queue = try await queue(1)
    let (worker, deliverer) = (queue.tool.home["work.prom"], queue.tool.home["deliver.prom"])
    _ = try await queue.run("work", ["--once", "--metrics-file", worker])
    _ = try await queue.run("deliver", ["--once", "--metrics-file", deliverer] + shell("echo ok", ""))
    let samples = try [worker, deliverer].flatMap { try Figures(file: $0).values.keys }
    let present = Set(samples.map { String($0.prefix { $0 != "{" }).replacing(/_(bucket|sum|count)$/, with: "") })
    let named = try ["queues.md", "machines.md", "operations.md"].flatMap { name in
      let text = try String(contentsOfFile: "\(Sample.fixtures)/../Documentation/\(name)", encoding: .utf8)
      // `attache_queue_…` stands for several.
      return text.matches(of: /attache_[a-z_]*[a-z](?!_|…|[a-z])/).map { String($0.0) }
    }
    #expect(Set(named).count >= 12)
    // Only a queue on a server has replication, and a schema. Only --convert has a wait, and only a filter reads lines.
    let others = ["attache_main", "attache_conversion_wait_seconds", "attache_lines_total"]
    let missing = Set(named).subtracting(present).filter { !$0.hasPrefix("attache_queue_replication_") && !others.contains($0) }
    #expect(missing.isEmpty)
  }
}
