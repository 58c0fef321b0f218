import Foundation
import FoundationXML
import Testing

/// The reports of a rehearsal.
@Suite(.timeLimit(.minutes(1)))
struct RehearseReportTests {
  @Test func `JUnit has a case for each scenario, with the kind and the message of what went wrong`() async throws {
    let folder = try mixed()
    let run = try await folder.rehearse(["--command", "sed -u '/\"n\":2/d;s/\u{1}/x/'", "--junit", folder["junit.xml"]])
    #expect(run.exit == .status(99))
    let suites = try XMLTree(contentsOfFile: folder["junit.xml"])
    #expect(suites.name == "testsuites")
    #expect(suites.attributes["tests"] == "3")
    #expect(suites.attributes["failures"] == "1")
    #expect(suites.attributes["skipped"] == "1")
    let cases = suites.children[0].children
    #expect(cases.map(\.name) == Array(repeating: "testcase", count: 3))
    #expect(cases.compactMap { $0.attributes["name"] } == ["a-odd <&\">", "b-skipped", "three-lines-pass"])
    let failure = try #require(cases[2].children.first { $0.name == "failure" })
    #expect(failure.attributes["type"] == "lost")
    #expect(failure.attributes["message"]?.contains("payload 2") == true)
    #expect(cases[1].children.map(\.name) == ["skipped"])
    #expect(cases[2].children.contains { $0.name == "system-out" && $0.text.contains(/lines? \d.* read/) })
  }

  @Test func `repeated, JUnit has a case for each seed`() async throws {
    let folder = try RehearseFolder()
    let run = try await folder.rehearse(["--command", "cat", "--repeat", "3", "--seed", "5", "--junit", folder["junit.xml"]])
    #expect(run.exit == .status(0))
    let cases = try XMLTree(contentsOfFile: folder["junit.xml"]).children[0].children
    #expect(cases.compactMap { $0.attributes["name"] } == (5...7).map { "three-lines-pass (seed \($0))" })
  }

  @Test func `TAP has its version, a plan, and a verdict for each scenario`() async throws {
    let folder = try mixed()
    let run = try await folder.rehearse(["--command", "sed -u '/\"n\":2/d'", "--tap"])
    #expect(run.exit == .status(99))
    let lines = run.text.split(separator: "\n").map(String.init)
    #expect(lines.prefix(2) == ["TAP version 14", "1..3"])
    let verdicts = lines.filter { $0.hasPrefix("ok ") || $0.hasPrefix("not ok ") }
    #expect(Set(verdicts.map { $0.drop { !$0.isNumber }.prefix(1) }) == ["1", "2", "3"])
    #expect(verdicts.contains { $0.hasPrefix("not ok ") && $0.hasSuffix("- three-lines-pass") })
    #expect(verdicts.contains { $0.contains("- b-skipped # SKIP ") })
    #expect(lines.contains("    - kind: lost"))
    #expect(lines.filter { $0 == "  ---" }.count == lines.filter { $0 == "  ..." }.count)
  }

  @Test func `JSON has every payload's lateness, and the histogram counts them all`() async throws {
    let (run, record) = try await RehearseFolder().rehearsed("cat")
    #expect(run.exit == .status(0))
    #expect(record.version == 1)
    #expect(record.clock == "command")
    #expect(record.scenarios[0].depth == "command")
    #expect(record.scenarios[0].payloads.map(\.line) == [1, 2, 3])
    #expect(record.lateness.histogram.reduce(0) { $0 + $1.count } == 3)
    let largest = try #require(record.lateness.maxMs)
    #expect(largest < 0)
    #expect(try #require(record.lateness.p50Ms) <= largest)
  }

  @Test func `a report through a link is written where the link leads, and a name may be short`() async throws {
    let folder = try RehearseFolder()
    let (link, real) = (folder.tool.home["link"], folder.tool.home["real"])
    try Data("old".utf8).write(to: URL(filePath: real))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
    let run = try await folder.rehearse(["--command", "cat", "--json", link])
    #expect(run.exit == .status(0), "\(run.errors)")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == real)
    #expect(try Data(contentsOf: URL(filePath: real)).first == UInt8(ascii: "{"))
    let short = try await folder.tool.run(["rehearse", "--command", "cat", "--json", "r", folder.path]) { launch in
      launch.arguments = ["-c", "cd \"$1\" && shift && exec \"$0\" \"$@\"", launch.path, folder.tool.home.path] + launch.arguments
      launch.path = "/bin/sh"
    }
    #expect(short.exit == .status(0), "\(short.errors)")
    #expect(FileManager.default.fileExists(atPath: folder.tool.home["r"]))
  }

  @Test func `a rehearsal in which nothing could be played has not passed`() async throws {
    let folder = try RehearseFolder(["blocks": "payloads: [x]\nextension: blocks\n"])
    let run = try await folder.rehearse(["--command", "cat"])
    #expect(run.exit == .status(99))
    #expect(run.errors.contains("every scenario was skipped"), "\(run.errors)")
  }

  @Test func `people see what was expected, what came, and what happened`() async throws {
    let run = try await RehearseFolder(["photos": RehearseFolder.photos]).rehearse(["--command", "sed -u 2d"])
    #expect(run.text.contains(/FAIL  photos +\d/))
    #expect(run.text.contains("lost, payload 2: expected one line of output, got none"))
    #expect(run.text.contains(/ms  payload   lines? \d/))
    #expect(run.text.contains("1 scenario in "))
    #expect(run.text.contains("0 passed, 1 failed, 0 skipped"))
    #expect(run.text.contains(/lateness of 1 line: p50 -.*, p99 -.*, max -/))
    #expect(run.text.contains("####"))
    #expect(!run.text.contains("\u{1B}"))
  }

  @Test func `what passed is shown too when asked for`() async throws {
    let folder = try RehearseFolder()
    for event in [try Regex(#"of output written"#), try Regex(#"lines? \d.* read"#)] {
      #expect(try await !folder.rehearse(["--command", "cat"]).text.contains(event))
      #expect(try await folder.rehearse(["--command", "cat", "--verbose"]).text.contains(event))
    }
  }

  @Test func `a report that has no place ends with 74 before anything is played`() async throws {
    for flag in ["--junit", "--json"] {
      let run = try await RehearseFolder().rehearse(["--command", "cat", flag, "/nowhere/report"])
      #expect(run.exit == .status(74))
      #expect(run.output == [])
      #expect(run.errors.contains("/nowhere/report"))
    }
  }

  @Test func `a report that cannot be written ends with 74`() async throws {
    let run = try await RehearseFolder().rehearse(["--command", "cat", "--json", "/dev/full"])
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("/dev/full: No space left"))
  }

  @Test func `a standard output that is full ends with 74`() async throws {
    let folder = try RehearseFolder()
    let program = try folder.tool.start(["rehearse", folder.path, "--command", "cat"]) { $0.output = .file("/dev/full") }
    let run = await program.finished()
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("standard output: No space left"))
  }

  @Test(arguments: [[:], ["NO_COLOR": "1"], ["TERM": "dumb"]])
  func `colour is for terminals that want it`(environment: [String: String]) async throws {
    let folder = try RehearseFolder()
    let terminal = try Terminal()
    let program = try folder.tool.start(["rehearse", folder.path, "--command", "cat"]) { launch in
      launch.output = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
      launch.environment.merge(environment) { $1 }
    }
    terminal.closeProgramSide()
    #expect(await program.exit() == .status(0))
    let text = await terminal.everything()
    #expect(text.contains("three-lines-pass"))
    #expect(text.contains("\u{1B}[32mok\u{1B}[0m") == environment.isEmpty)
    #expect(text.contains("\u{1B}") == environment.isEmpty)
  }

  /// A scenario with a difficult name, one that no command can play, and one that loses its second
  /// line.
  private func mixed() throws -> RehearseFolder {
    let folder = try RehearseFolder()
    try folder.write(RehearseFolder.three.replacing("\"n\":", with: "\"m\":"), as: "a-odd <&\">")
    try folder.write(RehearseFolder.three + "\nextension: blocks\n", as: "b-skipped")
    return folder
  }
}
