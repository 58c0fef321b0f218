import AttacheTesting
import Foundation

/// The built tool with a queue in its home.
final class QueueTool: Sendable {
  struct State: Decodable {
    var ready, waiting, leased, done, dead, undecided, unread, total: Int
  }

  let tool: AttacheTool
  /// As `--queue` takes it.
  let queue: String
  /// Flags of `work` that let it reach an origin on loopback.
  static let loopback = AttacheTool.loopback

  /// - Parameter path: the queue's path; nil for a queue in the tool's home.
  init(path: String? = nil) throws {
    tool = try AttacheTool()
    queue = "sqlite:\(path ?? tool.home["queue"])"
  }

  /// Runs a command of the queue over an input to its end.
  func run(_ command: String, _ arguments: [String] = [], input: String = "", change: (inout Launch) -> Void = { _ in }) async throws -> Run
  {
    try await tool.run([command, "--queue", queue] + arguments, input: input, change: change)
  }

  func start(_ command: String, _ arguments: [String] = [], change: (inout Launch) -> Void = { _ in }) throws -> Program {
    try tool.start([command, "--queue", queue] + arguments, change: change)
  }

  /// Enqueues lines and processes them.
  func work(_ input: String, _ arguments: [String] = []) async throws {
    _ = try await run("enqueue", input: input)
    _ = try await run("work", ["--once"] + arguments)
  }

  func state() async throws -> State {
    try JSONDecoder().decode(State.self, from: Data(try await run("queue", ["--json"]).output))
  }

  /// Polls until the queue satisfies the condition, since another process changes it without an
  /// event for the test.
  func state(until isSo: (State) -> Bool) async throws -> State {
    while true {
      if let state = try? await state(), isSo(state) { return state }
      try Task.checkCancellation()
    }
  }

  /// Polls until the history of a payload satisfies the condition.
  func history(_ line: Int, until isSo: (String) -> Bool) async throws -> String {
    while true {
      let text = try await run("queue", ["--line", "\(line)"]).text
      if isSo(text) { return text }
      try Task.checkCancellation()
    }
  }

  /// The attachments that the queue holds in the store.
  func holds() throws -> [String] {
    let folder = tool.store + "/.held"
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
      $0.contains("/") && !$0.hasSuffix("/queue") && !$0.hasSuffix("/missing")
    }
  }
}
