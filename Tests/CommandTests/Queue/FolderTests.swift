import AttacheTesting
import Foundation
import Glibc
import Testing

/// Files in and out of a queue, with the built tool.
@Suite(.timeLimit(.minutes(1)))
struct FolderTests {
  private let queue: QueueTool

  init() throws {
    queue = try QueueTool()
    for name in ["in", "out"] { try FileManager.default.createDirectory(atPath: queue.tool.home[name], withIntermediateDirectories: false) }
  }

  private func drop(_ text: String, as name: String) throws {
    let written = queue.tool.home["written"]
    try Data(text.utf8).write(to: URL(filePath: written))
    try FileManager.default.moveItem(atPath: written, toPath: queue.tool.home["in"] + "/" + name)
  }

  private func names(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: queue.tool.home[folder])) ?? []).sorted()
  }

  @Test func `a file is moved in, and its result is found, byte for byte`() async throws {
    try drop("{\"aps\":{}}", as: "cat.json")
    try drop("no JSON\r\n", as: "dog\r")
    try FileManager.default.createSymbolicLink(atPath: queue.tool.home["in"] + "/link", withDestinationPath: "/etc/passwd")
    let enqueue = try await queue.run("enqueue", ["--folder", queue.tool.home["in"]])
    #expect(enqueue.exit == .status(0), "\(enqueue.errors)")
    #expect(enqueue.errors.contains("/in/link: is not a regular file and stays there"), "\(enqueue.errors)")
    #expect(enqueue.errors.contains("2 payloads enqueued in "), "\(enqueue.errors)")
    #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    let deliver = try await queue.run("deliver", ["--once", "--folder", queue.tool.home["out"]])
    #expect(deliver.exit == .status(0), "\(deliver.errors)")
    #expect(names("out") == ["1-cat.json", "1-cat.json.record", "2-dog_", "2-dog_.record"])
    #expect(FileManager.default.contents(atPath: queue.tool.home["out"] + "/1-cat.json") == Data("{\"aps\":{}}".utf8))
    #expect(FileManager.default.contents(atPath: queue.tool.home["out"] + "/2-dog_") == Data("no JSON\r\n".utf8))
    #expect([names("in"), names("in.taken"), names("out.writing")] == [["link"], [], []])
    #expect(try await queue.state().unread == 0)
  }

  @Test func `files that come while a command follows are added, and a signal ends it`() async throws {
    try drop("first", as: "1")
    let program = try queue.start("enqueue", ["--folder", queue.tool.home["in"], "--follow"])
    _ = try await queue.state { $0.total == 1 }
    try drop("second", as: "2")
    _ = try await queue.state { $0.total == 2 }
    program.send(SIGTERM)
    #expect(await program.finished().exit == .status(0))
    #expect([names("in"), names("in.taken")] == [[], []])
  }

  @Test func `a second queue is refused by the folder of the first's results, which is named`() async throws {
    try await queue.work("{}\n")
    #expect(try await queue.run("deliver", ["--once", "--folder", queue.tool.home["out"]]).exit == .status(0))
    let other = ["--queue", "sqlite:" + queue.tool.home["other"]]
    #expect(try await queue.tool.run(["enqueue"] + other, input: "{}\n").exit == .status(0))
    let run = try await queue.tool.run(["deliver"] + other + ["--once", "--folder", queue.tool.home["out"]])
    #expect(run.exit == .status(69))
    #expect(run.errors.contains("/out: has results of \(queue.queue), whose names this queue would use too"), "\(run.errors)")
    #expect(names("out") == ["1", "1.record"])
  }

  @Test func `a result that is delivered again replaces its file`() async throws {
    // It falls back, since http is not allowed.
    let payload = Sample.payload("http://cdn.example/cat.png")
    try drop(payload, as: "cat.json")
    #expect(try await queue.run("enqueue", ["--folder", queue.tool.home["in"]]).exit == .status(0))
    #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    for _ in 0..<2 {
      #expect(try await queue.run("deliver", ["--once", "--folder", queue.tool.home["out"]]).exit == .status(0))
      #expect(names("out") == ["1-cat.json", "1-cat.json.record"])
      #expect(FileManager.default.contents(atPath: queue.tool.home["out"] + "/1-cat.json") == Data(payload.utf8))
      try Data("changed".utf8).write(to: URL(filePath: queue.tool.home["out"] + "/1-cat.json"))
      #expect(try await queue.run("retry").exit == .status(0))
      #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    }
  }

  @Test func `a queue whose name begins with a combining character is found in its folder`() async throws {
    // Swift takes the slash and the mark for one Character.
    let place = queue.tool.home["in"] + "/\u{301}queue"
    let run = try await queue.tool.run(["enqueue", "--queue", "sqlite:" + place, "--folder", queue.tool.home["in"]])
    #expect(run.exit == .status(64), "\(run.errors)")
    #expect(names("in") == [])
  }

  @Test(arguments: ["enqueue", "deliver"]) func `a folder that contains the queue is refused`(command: String) async throws {
    #expect(try await queue.run("enqueue", input: "{}\n").exit == .status(0))
    try FileManager.default.createSymbolicLink(atPath: queue.tool.home["link"], withDestinationPath: ".")
    for folder in ["link", "."] {
      let run = try await queue.run(command, ["--folder", queue.tool.home[folder]])
      #expect(run.exit == .status(64))
      #expect(run.errors.contains("/queue, is in the folder of --folder; choose another folder"), "\(run.errors)")
    }
    #expect(try await queue.state().total == 1)
  }

  @Test(arguments: ["enqueue", "deliver"]) func `a folder that is missing is named`(command: String) async throws {
    _ = try await queue.run("enqueue")
    let run = try await queue.run(command, ["--folder", queue.tool.home["none"]])
    #expect(run.exit == .status(69))
    #expect(run.errors.contains("none: No such file or directory; create the folder first"), "\(run.errors)")
  }

  @Test func `a path with a line feed is one line of a message`() async throws {
    let odd = try QueueTool()
    let location = "sqlite:\(odd.tool.home["a\nb"])"
    let missing = try await odd.tool.run(["queue", "--queue", location])
    #expect(missing.exit == .status(69))
    #expect(missing.errors.hasSuffix("a\\u{A}b: there is no such queue; `attache enqueue` creates one\n"), "\(missing.errors)")
    let enqueue = try await odd.tool.run(["enqueue", "--queue", location], input: "{}\n")
    #expect(enqueue.errors.hasSuffix("a\\u{A}b\n"), "\(enqueue.errors)")
    #expect(try await odd.tool.run(["queue", "--queue", location]).text.contains("a\\u{A}b: 1 payload\n"))
  }
}
