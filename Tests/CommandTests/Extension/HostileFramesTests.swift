import AttacheTesting
import Foundation
import Glibc
import Testing

/// A program that speaks the frames of an extension, and sends what attache's library never would.
@Suite(.timeLimit(.minutes(1)))
struct HostileFramesTests {
  /// What the program sends, and what becomes of the line.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var version = 2
    var changes = "'{}'"
    /// The path of an attachment, in Python; `up` is the root folder by way of the run's own folder.
    var path: String?
    /// The line's new bytes; nil for the original.
    var output: String?
    var reason: String?
  }

  private static let line = #"{"aps":{"alert":"a","mutable-content":1,"relevance-score":0.5}}"#

  private static let program = ##"""
    #!/usr/bin/env python3
    import json, os, socket, struct
    home = os.environ["HOME"]
    up = home + "/..\0" * (home.count("/") + 1)
    host = socket.socket(fileno=3)
    host.setblocking(True)
    def send(kind, text):
        host.sendall(struct.pack("=IB", len(text.encode()) + 1, kind) + text.encode())
    def read(count):
        got = b""
        while len(got) < count:
            part = host.recv(count - len(got))
            if not part: os._exit(0)
            got += part
        return got
    send(1, '{"version":VERSION,"class":"A"}')
    while True:
        frame = read(struct.unpack("=I", read(4))[0])
        if frame[0] != 2: continue
        number = struct.unpack("=Q", frame[1:9])[0]
        path = PATH
        attachments = [] if path is None else [{"identifier": "i", "path": path, "type": "public.png", "size": 1, "options": {}}]
        send(4, '{"request":%d,"call":1,"changes":%s,"attachments":%s}' % (number, CHANGES, json.dumps(attachments)))
    """##

  @Test(arguments: [
    Row(
      testDescription: "one member twice", changes: #"'{"relevance-score":1,"relevance-score":0.25}'"#,
      output: line.replacing("0.5", with: "0.25")),
    Row(
      testDescription: "a member removed and replaced", changes: #"'{"relevance-score":null,"relevance-score":0.25}'"#,
      output: line.replacing("0.5", with: "0.25")),
    Row(
      testDescription: "a line feed between two tokens", changes: #"'{"sound":{"name":"x",' + chr(10) + '"volume":1}}'"#,
      output: line.replacing("0.5}", with: #"0.5,"sound":{"name":"x","volume":1}}"#)),
    Row(
      testDescription: "more members than a line can change",
      changes: #"'{"userInfo":' + json.dumps({str(n): 1 for n in range(70000)}) + '}'"#,
      reason: "extension.content"),
    Row(testDescription: "a path out of the folder by null characters", path: "up + 'TARGET'", reason: "extension.file"),
    Row(testDescription: "a path that forges lines", path: #"'/x' + chr(10) + chr(27) + '[31mforged'"#, reason: "extension.file"),
    Row(testDescription: "another version", version: 1, reason: "extension.crash"),
  ])
  func `whatever a frame has, the line is the original or has the change`(row: Row) async throws {
    let tool = try AttacheTool()
    let folder = tool.home["Hostile"]
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let target = tool.home["target.png"]
    try Data(Sample.medium("picture-alpha.png")).write(to: URL(filePath: target))
    let text = Self.program.replacing("VERSION", with: "\(row.version)").replacing("CHANGES", with: row.changes)
      .replacing("PATH", with: row.path?.replacing("TARGET", with: target) ?? "None")
    try text.write(toFile: folder + "/Extension", atomically: true, encoding: .utf8)
    unsafe chmod(folder + "/Extension", 0o700)
    let flags = ["--deadline", "20s", "--report", tool.report, "--extension", folder]
    let run = try await tool.run(flags, input: Self.line + "\n") { launch in
      launch.environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
    }
    #expect(run.text == (row.output ?? Self.line) + "\n" && run.exit == .status(0), "\(run.errors)")
    #expect(try ReportLine.read(tool.report).map(\.reason) == [row.reason], "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: target))
    #expect(!run.errors.contains("\u{1B}"))
  }
}
