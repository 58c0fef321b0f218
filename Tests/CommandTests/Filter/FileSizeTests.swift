import AttacheTesting
import Foundation
import Testing

/// A limit on the size of files (`ulimit -f`), beyond which a write fails as on a full disk.
@Suite(.timeLimit(.minutes(1)))
struct FileSizeTests {
  private let tool: AttacheTool

  init() throws {
    tool = try AttacheTool()
  }

  private func start(_ words: [String], bytes: Int, _ change: (inout Launch) -> Void = { _ in }) throws -> Program {
    try tool.start(words) { launch in
      launch.arguments = ["--fsize=\(bytes)", launch.path] + launch.arguments
      launch.path = "/usr/bin/prlimit"
      change(&launch)
    }
  }

  private func run(_ words: [String], bytes: Int, input: String = "", _ change: (inout Launch) -> Void = { _ in }) async throws -> Run {
    let program = try start(words, bytes: bytes, change)
    program.input.write(input)
    program.input.close()
    return await program.finished()
  }

  private func lines(_ count: Int) -> String {
    (1...count).map { #"{"aps":{"alert":"Hello"},"n":\#($0),"x":"\#(String(repeating: "x", count: 2_000))"}"# + "\n" }.joined()
  }

  @Test func `a medium that is too large for it leaves the original with the reason of a full store`() async throws {
    try await withOrigin { origin in
      origin.serve("/clip.mp4", try Sample.medium("clip.mp4"))
      let input = Sample.payload(origin.url("/clip.mp4")) + "\n"
      let run = try await run(AttacheTool.loopback, bytes: 1_000, input: input)
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(run.text == input)
      #expect(run.errors.contains("store.full"), "\(run.errors)")
      #expect(run.errors.contains("ulimit -f"), "\(run.errors)")
    }
  }

  @Test func `the filter's output ends with 74 where it may grow no further`() async throws {
    let output = tool.home["out"]
    let run = try await run([], bytes: 65_536, input: lines(100)) { $0.output = .file(output) }
    #expect(run.exit == .status(74), "\(run.errors)")
    #expect(run.errors.contains("File too large"), "\(run.errors)")
  }

  @Test func `a queue that may grow no further takes what fits, and the rest later`() async throws {
    let words = ["enqueue", "--queue", "sqlite:" + tool.home["queue"], "--dedupe", "bytes"]
    let full = try await run(words, bytes: 1_000_000, input: lines(3_000))
    #expect(full.exit == .status(74), "\(full.errors)")
    #expect(full.errors.contains("ulimit -f"), "\(full.errors)")
    #expect(try await tool.run(words, input: lines(3_000)).exit == .status(0))
    let queue = try await tool.run(["queue", "--queue", words[2]])
    #expect(queue.text.contains("ready      3,000"), "\(queue.text)")
  }

  @Test(arguments: ["work", "batch"]) func `a worker pauses at it, and is stopped with 75`(command: String) async throws {
    try await withOrigin { origin in
      // The limit is larger than the files of the queue.
      origin.serve("/clip.mp4", try Sample.medium("clip.mp4") + [UInt8](repeating: 0, count: 1_000_000))
      let (input, queue) = (tool.home["in"], "sqlite:" + tool.home["queue"])
      try Data((Sample.payload(origin.url("/clip.mp4")) + "\n").utf8).write(to: URL(filePath: input))
      #expect(try await tool.run(["enqueue", "--queue", queue, input]).exit == .status(0))
      let words = command == "work" ? ["work", "--queue", queue, "--once"] : ["batch", input, "-o", tool.home["out"]]
      let worker = try start(words + AttacheTool.loopback, bytes: 500_000)
      let errors = await worker.errors(holding: "paused: store.full: cannot write ")
      worker.send(SIGTERM)
      #expect(await worker.finished().exit == .status(75), "\(errors)")
      #expect(try await tool.run(words + AttacheTool.loopback).exit == .status(0))
    }
  }
}
