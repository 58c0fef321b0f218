import Foundation
import Glibc
import Testing

/// The messages for wrong usage of `attache rehearse`, and its help.
@Suite(.timeLimit(.minutes(1)))
struct RehearseUsageTests {
  @Test func `help is that of the companion, under the one name`() async throws {
    let run = try await AttacheTool().run(["rehearse", "--help"])
    #expect(run.exit == .status(0))
    #expect(run.text.contains("USAGE: attache rehearse"))
    for flag in [
      "clock", "time-scale", "seed", "repeat", "parallel", "only", "keep-going", "list", "command", "queue", "hang-after", "slack",
      "any-order", "expect",
      "large", "kill-at",
      "kill-random", "junit", "tap", "json", "baseline", "tolerance", "verbose",
    ] {
      #expect(run.text.contains("--\(flag) ") || run.text.contains("--\(flag)\n"), "\(flag)")
    }
    #expect(run.text.contains("REHEARSAL_FLAGS"))
    #expect(run.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: ["rehearse", "record", "origin"]) func `each command of the executable beside has one help and one version`(name: String)
    async throws
  {
    let (asked, given) = (try await AttacheTool().run(["help", name]), try await AttacheTool().run([name, "--help"]))
    #expect(asked.exit == .status(0) && given.exit == .status(0))
    #expect(asked.text == given.text && asked.text.contains("USAGE: attache \(name) "))
    #expect(try await AttacheTool().run([name, "--version"]).text == AttacheTool().run(["--version"]).text)
  }

  @Test func `attache's own help lists it`() async throws {
    let run = try await AttacheTool().run(["--help"])
    #expect(run.text.contains("\n  rehearse "))
  }

  private static let mistakes: [(arguments: [String], advice: String)] = [
    (["--clock", "sundial"], "'real', 'virtual' or 'both'"), (["--clock", "virtual", "--command", "cat"], "real clock"),
    (["--clock", "both", "--command", "cat"], "real clock"), (["--time-scale", "0"], "above 0"), (["--time-scale", "inf"], "above 0"),
    (["--repeat", "0"], "at least 1"), (["--repeat", "9223372036854775807"], "at most"), (["--parallel", "999999"], "at most"),
    (["--time-scale", "1e300"], "at most"), (["--parallel", "0"], "at least 1"), (["--seed", "x"], "--seed <n>"),
    (["--command", " "], "empty"),
    (["--hang-after", "5s"], "needs --command"), (["--slack", "5s"], "needs --command"), (["--any-order"], "needs --command"),
    (["--large"], "needs --command"),
    (["--expect", "all"], "needs --command"), (["--kill-at", "line"], "needs --command"), (["--kill-random", "1"], "needs --command"),
    (["--command", "cat", "--kill-at", "noon"], "request:2"), (["--command", "cat", "--kill-at", "line:0"], "request:2"),
    (["--command", "cat", "--kill-random", "0"], "at least 1"), (["--command", "cat", "--slack", "soon"], "--slack <time>"),
    (["--command", "cat", "--expect", "all", "--kill-at", "fed"], "remove --expect all"),
    (["--queue", "kafka"], "'sqlite' and 'postgresql://HOST/DATABASE'"),
    (["--queue", "sqlite", "--clock", "both"], "remove --clock both"),
    (["--queue", "postgresql:///x?queue=y"], "remove queue="),
    (["--queue", "sqlite", "--kill-at", "fed"], "--kill-at applies to lines in a pipe"),
    (["--queue", "sqlite", "--slack", "1s"], "--slack applies to lines in a pipe"),
    (["--queue", "sqlite", "--expect", "promise"], "--expect promise applies to lines in a pipe"),
    (["--queue", "sqlite", "--expect", "all", "--kill-random", "1"], "remove --expect all"), (["--tolerance", "1s"], "needs --baseline"),
    (["--tap", "--verbose"], "--tap"), (["--json", "r", "--junit", "r"], "name the same file"),
    (["--only", "nothing-of-that-name"], "--list"), (["--bogus"], "--bogus"),
  ]

  @Test(arguments: mistakes)
  func `wrong use ends with 64 and says what is right`(arguments: [String], advice: String) async throws {
    let run = try await RehearseFolder().rehearse(arguments)
    #expect(run.exit == .status(64))
    #expect(run.output == [])
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test func `a path that is not there, an empty folder, and no path at all end with 64`() async throws {
    let folder = try RehearseFolder([:])
    for (paths, advice) in [([folder.path], "no scenario"), (["/nowhere"], "/nowhere"), ([], "<paths>")] {
      let run = try await folder.tool.run(["rehearse"] + paths)
      #expect(run.exit == .status(64))
      #expect(run.errors.contains(advice), "\(run.errors)")
    }
  }

  @Test func `wrong files end with 65, each with its place, and nothing is played`() async throws {
    let folder = try RehearseFolder()
    try folder.write("payloads: ['{}']\ndeadlin: 2s\n", as: "a-slip")
    try folder.write("payloads: ['{}']\ndeadline: soon\n", as: "b-slip")
    let run = try await folder.rehearse(["--command", "cat"])
    #expect(run.exit == .status(65))
    #expect(run.output == [])
    #expect(run.errors.contains("\(folder.path)/a-slip.yaml:2:1: deadlin: "))
    #expect(run.errors.contains("\(folder.path)/b-slip.yaml:2:11: deadline: "))
  }

  @Test func `a link in a folder that leads out of it, and a pipe, are wrong files`() async throws {
    let folder = try RehearseFolder()
    try Data(RehearseFolder.three.utf8).write(to: URL(filePath: folder["outside.yaml"]))
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/a-link.yaml", withDestinationPath: "../outside.yaml")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/own.yaml", withDestinationPath: "three-lines-pass.yaml")
    #expect(unsafe mkfifo(folder.path + "/b-pipe.yaml", 0o600) == 0)
    let run = try await folder.rehearse(["--list"])
    #expect(run.exit == .status(65))
    #expect(run.errors.contains("\(folder.path)/a-link.yaml: this link leads out of the folder"), "\(run.errors)")
    #expect(
      run.errors.contains("\(folder.path)/b-pipe.yaml: this is not a regular file") && !run.errors.contains("own.yaml"), "\(run.errors)")
  }

  @Test func `a folder's scenarios are listed with what they are about`() async throws {
    let folder = try RehearseFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/inner", withIntermediateDirectories: true)
    try folder.write(RehearseFolder.three, as: "inner/further")
    try Data("no scenario".utf8).write(to: URL(filePath: folder.path + "/README.md"))
    let run = try await folder.rehearse(["--list"])
    #expect(run.exit == .status(0))
    #expect(run.text == "further           Three lines pass.\nthree-lines-pass  Three lines pass.\n")
    #expect(try await folder.rehearse(["--list", "--only", "furt"]).text == "further  Three lines pass.\n")
  }
}
