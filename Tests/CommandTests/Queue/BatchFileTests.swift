import AttacheTesting
import Foundation
import Glibc
import Testing

/// Which files `attache batch` writes, and which it leaves unchanged.
@Suite(.timeLimit(.minutes(1)))
struct BatchFileTests {
  private static let lines = "{\"n\":1}\n{\"n\":2}\n"

  @Test func `a report takes the place neither of what is read nor of what is written`() async throws {
    let tool = try tool()
    for report in ["in", "out"] {
      let run = try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"], "--report", tool.home[report]])
      #expect(run.exit == .status(64))
      #expect(run.errors.contains("choose another"), "\(run.errors)")
      #expect(try text(tool, "in") == Self.lines)
      try "before\n".write(toFile: tool.home["out"], atomically: true, encoding: .utf8)
    }
    #expect(try text(tool, "out") == "before\n")
  }

  @Test func `two files that are not there yet are two`() async throws {
    let tool = try tool()
    let place = tool.home["new"]
    for report in [place, place + ".attache-part", place + ".attache-queue", place + ".attache-queue-wal"] {
      let run = try await tool.run(["batch", tool.home["in"], "-o", place, "--report", report])
      #expect(run.exit == .status(64))
      #expect(run.errors.contains("the report, \(report), is "), "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: report))
    }
    let run = try await tool.run(["batch", tool.home["in"], "-o", place, "--queue", "sqlite:\(place)"])
    #expect(run.errors == "attache: the output, \(place), is also a file of the queue; choose another file\n")
  }

  @Test func `a worker's metrics take the place of no file of its queue`() async throws {
    let tool = try tool()
    let queue = tool.home["queue"]
    #expect(try await tool.run(["enqueue", "--queue", "sqlite:\(queue)", tool.home["in"]]).exit == .status(0))
    let run = try await tool.run(["work", "--queue", "sqlite:\(queue)", "--once", "--metrics-file", queue])
    #expect(run.exit == .status(64))
    #expect(run.errors == "attache: the file of --metrics-file, \(queue), is also a file of the queue; choose another file\n")
    #expect(try await tool.run(["queue", "--queue", "sqlite:\(queue)"]).text.contains("ready      2"))
  }

  @Test func `a pipe is written, and stays one`() async throws {
    let tool = try tool()
    #expect(unsafe mkfifo(tool.home["out"], 0o600) == 0)
    let pipe = unsafe open(tool.home["out"], O_RDWR | O_CLOEXEC)
    defer { close(pipe) }
    #expect(try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"]]).exit == .status(0))
    let reader = FileHandle(fileDescriptor: pipe)
    #expect(try reader.read(upToCount: Self.lines.utf8.count) == Data(Self.lines.utf8))
    #expect(try type(tool, "out") == .typeUnknown)
  }

  @Test func `a signal ends it while it waits for somebody to read the pipe that it writes`() async throws {
    let tool = try tool()
    #expect(unsafe mkfifo(tool.home["out"], 0o600) == 0)
    let program = try tool.start(["batch", tool.home["in"], "-o", tool.home["out"]])
    await program.handles(SIGTERM)
    program.send(SIGTERM)
    #expect(await program.exit() == .status(75))
  }

  @Test func `a batch that is stopped says what it waits for, and a second signal leaves it for the next run`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let tool = try AttacheTool()
      try Data((Sample.payload(origin.url("/a.png")) + "\n").utf8).write(to: URL(filePath: tool.home["in"]))
      let command = ["batch", tool.home["in"], "-o", tool.home["out"]] + AttacheTool.loopback + ["--deadline", "1h"]
      let program = try tool.start(command)
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      let errors = await program.errors(holding: "another signal leaves them for the next run\n")
      #expect(errors.contains("stopping: payloads in progress have --deadline to end"))
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(75))
      #expect(run.errors.contains("to resume, run the same command again"))
    }
  }

  @Test func `a report to standard error follows what is in its file`() async throws {
    let tool = try tool()
    let run = try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"], "--report", "/dev/stderr"]) {
      $0.errors = .file(tool.home["errors"])
    }
    #expect(run.exit == .status(0))
    #expect(try text(tool, "errors").matches(of: /"line":/).count == 2)
    #expect(try text(tool, "errors").contains("attache: 2 lines: "))
  }

  @Test func `a link stays, and the file behind it is replaced`() async throws {
    let tool = try tool()
    try "before\n".write(toFile: tool.home["behind"], atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: tool.home["out"], withDestinationPath: "behind")
    #expect(try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"]]).exit == .status(0))
    #expect(try type(tool, "out") == .typeSymbolicLink)
    #expect(try text(tool, "behind") == Self.lines)
  }

  @Test func `a folder is refused before any work`() async throws {
    let tool = try tool()
    try FileManager.default.createDirectory(atPath: tool.home["out"], withIntermediateDirectories: false)
    let run = try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"]])
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("Is a directory"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.home["out.attache-queue"]))
  }

  @Test func `the output takes no input's place`() async throws {
    let tool = try tool()
    let run = try await tool.run(["batch", tool.home["in"], "-o", tool.home["in"]])
    #expect(run.exit == .status(64))
    #expect(run.errors.contains("choose another"), "\(run.errors)")
    #expect(try text(tool, "in") == Self.lines)
  }

  @Test func `a file that is replaced leaves its mode to the new one`() async throws {
    let tool = try tool()
    try "before\n".write(toFile: tool.home["out"], atomically: true, encoding: .utf8)
    #expect(unsafe chmod(tool.home["out"], 0o640) == 0)
    #expect(try await tool.run(["batch", tool.home["in"], "-o", tool.home["out"]]).exit == .status(0))
    #expect(try FileManager.default.attributesOfItem(atPath: tool.home["out"])[.posixPermissions] as? Int == 0o640)
  }

  @Test func `a folder is no input, and nothing is made for it`() async throws {
    let tool = try tool()
    try FileManager.default.createDirectory(atPath: tool.home["folder"], withIntermediateDirectories: false)
    let before = try FileManager.default.contentsOfDirectory(atPath: tool.home.path).sorted()
    let run = try await tool.run(["batch", tool.home["folder"], "-o", tool.home["out"]])
    #expect(run.exit == .status(74))
    #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).sorted() == before)
  }

  @Test func `what is no regular file needs a place for its queue`() async throws {
    let tool = try tool()
    for file in ["-", "/dev/stdin"] {
      let run = try await tool.run(["batch", file])
      #expect(run.exit == .status(64))
      #expect(run.errors.contains("--queue"), "\(run.errors)")
    }
  }

  private func tool() throws -> AttacheTool {
    let tool = try AttacheTool()
    try Self.lines.write(toFile: tool.home["in"], atomically: true, encoding: .utf8)
    return tool
  }

  private func text(_ tool: AttacheTool, _ name: String) throws -> String {
    try String(contentsOfFile: tool.home[name], encoding: .utf8)
  }

  private func type(_ tool: AttacheTool, _ name: String) throws -> FileAttributeType? {
    try FileManager.default.attributesOfItem(atPath: tool.home[name])[.type] as? FileAttributeType
  }
}
