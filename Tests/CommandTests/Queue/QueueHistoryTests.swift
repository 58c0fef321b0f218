import AttacheTesting
import Foundation
import Testing

/// `attache queue --line` and `--key`, by the built tool.
@Suite(.timeLimit(.minutes(1)))
struct QueueHistoryTests {
  /// The JSON output for a payload.
  private struct History: Decodable {
    struct Try: Decodable {
      var stage: String
      var attempt: Int
      var time: Date
      var text: String
    }

    var line, priority: Int
    var enqueued: Date
    var work: String?
    var tries: [Try]
    var outcome, reason, delivery, answer: String?
    var finished, delivered: Date?
  }

  private func history(_ queue: QueueTool, _ name: [String]) async throws -> History {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(try decoder.singleValueContainer().decode(String.self))
    }
    return try decoder.decode(History.self, from: Data(try await queue.run("queue", name + ["--json"]).output))
  }

  /// The lines of a history without their times, and without the payload and its media.
  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n").filter { !$0.hasPrefix("  payload of ") && !$0.hasPrefix("  media ") }.map {
      String($0).replacing(/[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z/, with: "TIME")
    }
  }

  @Test func `a payload's history grows from being enqueued to being delivered`() async throws {
    try await withOrigin { origin in
      let missing = "/busy.png"
      origin.serve(missing, try Sample.medium("picture.png"), faults: [.status(503)])
      let queue = try QueueTool()
      let begin = Date(timeIntervalSinceNow: -0.001)
      let payload = #"{"id":"p1","aps":{"alert":"Hello","mutable-content":1},"media-url":"\#(origin.url(missing))"}"#
      _ = try await queue.run("enqueue", ["--dedupe", "id"], input: "\(payload)\n{\"id\":\"p2\"}\n")
      let enqueued = ["payload 1", "  TIME  enqueued"]
      #expect(lines(try await queue.run("queue", ["--key", "p1"]).text) == enqueued + ["  no result yet: ready"])
      _ = try await queue.run("work", ["--once", "--attempts", "2"] + QueueTool.loopback)
      let worked = enqueued + ["  TIME  try 1 of the work: http.status", "  TIME  fallback, http.status"]
      #expect(lines(try await queue.run("queue", ["--key", "p1"]).text) == worked + ["  undelivered: ready"])
      let sender =
        #"while read -r line; do case $line in *p1*) [ -e "$1" ] && echo ok || { : >"$1"; echo retry 1ms; } ;; *) echo ok ;; esac; done"#
      _ = try await queue.run("deliver", ["--once", "--", "sh", "-c", sender, "sender", queue.tool.home["mark"]])
      let text = try await queue.run("queue", ["--key", "p1"]).text
      #expect(lines(text) == worked + ["  TIME  try 1 of the delivery: retry 1ms", "  TIME  delivered"])
      #expect(try await queue.run("queue", ["--line", "1"]).text == text)
      #expect(lines(try await queue.run("queue", ["--line", "2"]).text)[0] == "payload 2")
      let history = try await history(queue, ["--line", "1"])
      #expect(history.line == 1 && history.work == nil && history.outcome == "fallback" && history.reason == "http.status")
      #expect(
        history.delivery == "delivered" && history.tries.map(\.stage) == ["work", "delivery"] && history.tries.map(\.attempt) == [1, 1])
      let moments = [begin, history.enqueued, history.tries[0].time, history.finished, history.tries[1].time, history.delivered, Date()]
      let known = moments.compactMap(\.self)
      #expect(known.count == moments.count && known == known.sorted(), "\(known)")
    }
  }

  @Test func `a key may be a number's, or the hash of a line`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run(
      "enqueue", ["--dedupe", "id"], input: "{\"id\":\"7\"}\n{\"id\":8}\n{\"id\":\"\(String(repeating: "k", count: 65))\"}\n")
    #expect(try await history(queue, ["--key", "7"]).line == 1)
    #expect(try await history(queue, ["--key", "8"]).line == 2)
    #expect(try await history(queue, ["--key", String(repeating: "k", count: 65)]).line == 3)
    _ = try await queue.run("enqueue", ["--dedupe", "bytes"], input: "{}\n")
    // The SHA-256 of {}.
    #expect(try await history(queue, ["--key", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"]).line == 4)
  }

  @Test(arguments: [["--key", "p2"], ["--key", ""], ["--line", "2"]])
  func `a payload that is not there ends with 69`(name: [String]) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", ["--dedupe", "id"], input: "{\"id\":\"p1\"}\n")
    let run = try await queue.run("queue", name)
    #expect(run.exit == .status(69))
    #expect(run.output == [])
    #expect(run.errors.hasSuffix("has no such payload; a purged payload has no history\n"), "\(run.errors)")
  }

  @Test(arguments: [
    (["--line", "first"], "--line <n>"), (["--line", "99999999999999999999"], "--line <n>"),
    (["--line", "1", "--key", "a"], "choose one of --line, --key, --list and --watch"),
  ])
  func `what names no payload ends with 64`(name: [String], advice: String) async throws {
    let run = try await QueueTool().run("queue", name)
    #expect(run.exit == .status(64))
    #expect(run.errors.contains(advice), "\(run.errors)")
  }
}
