import AttacheTesting
import Foundation
import Testing

/// What users do in the folder of a `dir:` queue, with the built tool.
@Suite(.timeLimit(.minutes(1)))
struct InboxTests {
  private let queue: QueueTool
  private var folder: String { queue.tool.home["queue"] }

  init() async throws {
    queue = try QueueTool(.folder)
    #expect(try await queue.run("enqueue").exit == .status(0))
  }

  private func drop(_ text: String, as name: String) throws {
    let written = queue.tool.home["written"]
    try Data(text.utf8).write(to: URL(filePath: written))
    try FileManager.default.moveItem(atPath: written, toPath: "\(folder)/new/\(name)")
  }

  @Test func `a file is moved in, and its result is found, byte for byte`() async throws {
    try drop("{\"aps\":{}}", as: "cat.json")
    try drop("no JSON\r\n", as: "dog\r")
    try FileManager.default.createSymbolicLink(atPath: folder + "/new/link", withDestinationPath: "/etc/passwd")
    let work = try await queue.run("work", ["--once"])
    #expect(work.exit == .status(0), "\(work.errors)")
    #expect(work.errors.components(separatedBy: "/new/link: is not a regular file and stays there").count == 2, "\(work.errors)")
    let done = try FileManager.default.contentsOfDirectory(atPath: folder + "/done").sorted()
    #expect(done == ["1-cat.json", "1-cat.json.record", "2-dog_", "2-dog_.record"])
    #expect(FileManager.default.contents(atPath: folder + "/done/1-cat.json") == Data("{\"aps\":{}}".utf8))
    #expect(FileManager.default.contents(atPath: folder + "/done/2-dog_") == Data("no JSON\r\n".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/new") == ["link"])
  }

  @Test func `a file that was taken from done is read, and does not come back`() async throws {
    try drop("{\"aps\":{}}", as: "cat.json")
    #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    #expect(try await queue.state().unread == 1)
    try FileManager.default.removeItem(atPath: folder + "/done/1-cat.json")
    #expect(try await queue.state().unread == 0)
    #expect(try await queue.run("results", ["--unread"]).output == [])
    #expect(try await queue.run("work", ["--once"]).exit == .status(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/done") == ["1-cat.json.record"])
  }

  @Test(arguments: QueueKind.allCases) func `a path with a line feed is one line of a message`(kind: QueueKind) async throws {
    let odd = try QueueTool(kind)
    let location = "\(kind.rawValue):\(odd.tool.home["a\nb"])"
    let missing = try await odd.tool.run(["queue", "--queue", location])
    #expect(missing.exit == .status(69))
    #expect(missing.errors.hasSuffix("a\\u{A}b: there is no such queue; `attache enqueue` creates one\n"), "\(missing.errors)")
    let enqueue = try await odd.tool.run(["enqueue", "--queue", location], input: "{}\n")
    #expect(enqueue.errors.hasSuffix("a\\u{A}b\n"), "\(enqueue.errors)")
    #expect(try await odd.tool.run(["queue", "--queue", location]).text.contains("a\\u{A}b: 1 payload\n"))
  }
}
