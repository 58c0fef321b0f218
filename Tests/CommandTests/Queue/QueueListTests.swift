import AttacheTesting
import Foundation
import Testing

/// `attache queue --list`, and the commands that change what the same flags select, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct QueueListTests {
  /// A queue whose payload 1 was delivered, 2 was dropped and 3 is ready.
  private func queue() async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...2).map { "{\"user\":\"u\($0)\"}\n" }.joined())
    let script = "while read -r line; do case $line in *2*) echo drop no such token ;; *) echo ok ;; esac; done"
    _ = try await queue.run("deliver", ["--once", "--", "sh", "-c", script])
    _ = try await queue.run("enqueue", ["--key-path", "user", "--dedupe", "id"], input: "{\"id\":\"x\",\"user\":\"u3\"}\n")
    return queue
  }

  @Test func `a list is a table for people and objects for programs`() async throws {
    let queue = try await queue()
    let table = try await queue.run("queue", ["--list"])
    #expect(table.exit == .status(0))
    let rows = table.text.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true).map(String.init) }
    #expect(rows.map { $0.prefix(2) } == [["line", "state"], ["1", "delivered"], ["2", "dropped"], ["3", "ready"]])
    #expect(rows[2].joined(separator: " ").contains("no such token") && rows[3].last == "u3", "\(table.text)")
    #expect(table.errors == "")
    let json = try await queue.run("queue", ["--list", "--json", "--limit", "2"])
    #expect(json.errors == "attache: there are more; --continue 2 lists them\n")
    let states = try json.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["state"] as? String
    }
    #expect(states == ["delivered", "dropped"])
    let rest = try await queue.run("queue", ["--list", "--continue", "2", "--state", "ready", "--since", "1h"])
    #expect(rest.text.contains("\n3 ") && rest.errors == "", "\(rest.text)\(rest.errors)")
    let none = try await queue.run("queue", ["--list", "--state", "timed-out"])
    #expect(none.text == "" && none.errors.hasSuffix("has no such payload\n"))
  }

  @Test func `people find a payload by its keys, with its content and the fate of its media`() async throws {
    let queue = try QueueTool()
    let line = Sample.payload("http://a.example/a.png").dropLast() + ",\"user\":\"ann\"}"
    _ = try await queue.run("enqueue", ["--key-path", "user"], input: line + "\n" + line + "\n")
    _ = try await queue.run("work", ["--once"])
    let both = try await queue.run("queue", ["--key", "ann"])
    #expect(both.exit == .status(0))
    #expect(both.text.contains("payload 1\n") && both.text.contains("payload 2\n"))
    #expect(both.text.contains("  payload of \(line.utf8.count + 1) bytes: \(line)\n"))
    #expect(both.text.contains("  media 1: http://a.example/a.png: policy.scheme\n"), "\(both.text)")
    let json = try await queue.run("queue", ["--line", "1", "--json"])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
    #expect(object["payload"] as? String == line + "\n" && object["key"] as? String == "ann" && object["state"] as? String == "done")
    #expect((object["record"] as? [String: Any])?["reason"] as? String == "policy.scheme")
    #expect(try await queue.run("queue", ["--list", "--key", "ann", "--reason", "policy.scheme", "--state", "done"]).text.contains("\n2 "))
  }

  @Test func `what is selected is counted first, and only counted in a dry run`() async throws {
    let queue = try await queue()
    let dry = try await queue.run("cancel", ["--key", "u3", "--dry-run"])
    #expect(dry.errors == "attache: 1 payload selected; nothing is changed (--dry-run)\n")
    let cancel = try await queue.run("cancel", ["--key", "u3", "--why", "a wrong campaign"])
    #expect(cancel.exit == .status(0))
    #expect(cancel.errors == "attache: 1 payload selected\nattache: 1 payload cancelled\n")
    #expect(try await queue.run("queue", ["--list", "--state", "cancelled"]).text.contains("a wrong campaign; queue.cancelled"))
    #expect(try await queue.run("cancel", ["--all"]).errors == "attache: 0 payloads selected\n")
    #expect(try await queue.run("retry").errors == "attache: 0 payloads selected\n")
    #expect(try await queue.run("retry", ["--state", "cancelled"]).errors.hasSuffix("attache: 1 payload requeued\n"))
    let redeliver = try await queue.run("retry", ["--delivery", "--answer", "no such token"])
    #expect(redeliver.errors == "attache: 1 payload selected\nattache: 1 payload requeued\n")
    let purge = try await queue.run("purge", ["--older-than", "0s", "--state", "delivered"])
    #expect(purge.errors == "attache: 1 payload selected\nattache: 1 payload removed\n")
    let state = try await queue.state()
    #expect(state.total == 2 && state.ready == 1 && state.done == 1)
  }

  @Test(
    arguments: [
      ("cancel", [], "or name --all"), ("cancel", ["--all", "--key", "a"], "remove one"), ("cancel", ["--state", "dropped"], "is over"),
      ("retry", ["--state", "ready"], "has no result yet"), ("retry", ["--delivery", "--state", "delivered"], "nothing to deliver again"),
      ("queue", ["--state", "dead"], "a selection needs --list"), ("queue", ["--list", "--line", "1"], "choose one of"),
      ("queue", ["--list", "--limit", "0"], "--limit"), ("queue", ["--list", "--continue=-1"], "--continue must be at least 0"),
      ("queue", ["--list", "--state", "lost"], "--state"), ("queue", ["--list", "--since", "yesterday"], "--since"),
      ("queue", ["--list", "--answer", ""], "--answer is empty"), ("queue", ["--list", "--since", "+2h"], "a span before now such as 2h"),
      ("cancel", ["--state", "ready", "--state", "done"], "--state is given 2 times; run the command once for each"),
      ("cancel", ["--line", "0"], "--line must be at least 1"),
    ] as [(String, [String], String)])
  func `a selection that cannot be meant ends with 64`(command: String, flags: [String], advice: String) async throws {
    let run = try await QueueTool().run(command, flags)
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test func `a paused queue is worked and delivered when the pause ends, and everyone says so`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let pause = try await queue.run("pause", ["--why", "a wrong campaign"])
    #expect(pause.exit == .status(0))
    #expect(pause.errors.hasPrefix("attache: the work is paused; attache resume ends the pause\nattache: the delivery is paused;"))
    let state = try await queue.run("queue")
    #expect(state.text.contains("the work is paused since ") && state.text.contains("Z: a wrong campaign\n"))
    let worker = try queue.start("work", ["--once"])
    _ = await worker.errors(holding: "the queue is paused (a wrong campaign): nothing is processed until `attache resume`")
    #expect(try await queue.run("resume", ["--work"]).errors == "attache: the work goes on\n")
    #expect(await worker.exit() == .status(0))
    let deliverer = try queue.start("deliver", ["--once", "--", "sh", "-c", "while read -r line; do echo ok; done"])
    _ = await deliverer.errors(holding: "nothing is delivered until `attache resume`")
    #expect(try await queue.run("resume").errors == "attache: the work was not paused\nattache: the delivery goes on\n")
    #expect(await deliverer.exit() == .status(0))
    #expect(try await queue.run("queue", ["--list", "--state", "delivered"]).text.contains("\n1 "))
  }
}
