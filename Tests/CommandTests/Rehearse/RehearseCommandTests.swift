import Foundation
import Glibc
import Testing

/// Filters that break the promise, each in its own way.
@Suite(.timeLimit(.minutes(1)))
struct RehearseCommandTests {
  struct BrokenFilter: CustomTestStringConvertible {
    var command: String
    /// The first finding.
    var kind: String
    var payload: Int?
    /// A part of the message.
    var word: String

    var testDescription: String { "\(kind): \(command)" }
  }

  private static let broken: [BrokenFilter] = [
    BrokenFilter(command: "sed -u 2d", kind: "lost", payload: 2, word: "got none"),
    BrokenFilter(command: "sed -u '2{p;p}'", kind: "duplicated", payload: 2, word: "got 3"),
    BrokenFilter(command: "sed -u 's/Hello/Hallo/'", kind: "altered", payload: 1, word: "from byte"),
    BrokenFilter(command: "sed -u 's/,\"n\":2//'", kind: "altered", payload: 2, word: "from byte"),
    BrokenFilter(command: "sed -u '3s/.........$//'", kind: "torn", payload: 3, word: "got only a part"),
    BrokenFilter(command: "while IFS= read -r line; do printf %s \"$line\"; done", kind: "lost", word: "got none"),
    BrokenFilter(command: "IFS= read -r a; IFS= read -r b; printf '%s\\n%s\\n' \"$b\" \"$a\"; exec cat", kind: "reordered", word: "order"),
    BrokenFilter(
      command: "IFS= read -r line; sleep 1; printf '%s\\n' \"$line\"; exec cat", kind: "late", payload: 1, word: "too late"),
    BrokenFilter(command: "sed s/a/a/", kind: "late", payload: 1, word: "does it flush its output"),
    BrokenFilter(command: "IFS= read -r line; echo oh dear >&2; exit 3", kind: "crashed", word: "status 3 before its input ended"),
    BrokenFilter(command: "IFS= read -r line; kill -SEGV $$", kind: "crashed", word: "signal 11 (SIGSEGV)"),
    BrokenFilter(command: "head -n 1", kind: "crashed", word: "after 1 of 3 lines"),
    BrokenFilter(command: "cat; echo oh dear >&2; exit 3", kind: "crashed", word: "its standard error: oh dear"),
    BrokenFilter(command: "no-such-filter", kind: "crashed", word: "not found"),
    BrokenFilter(command: "cat; sleep 1000", kind: "hung", word: "it did not end"),
    BrokenFilter(command: "sleep 1000", kind: "hung", word: "it wrote nothing"),
    BrokenFilter(command: "cat > /dev/null; sleep 1000", kind: "hung", word: "it wrote nothing"),
    BrokenFilter(command: "yes", kind: "altered", word: "and was killed"),
  ]

  @Test(arguments: broken)
  func `a filter that breaks the promise is found out by name`(filter: BrokenFilter) async throws {
    let (run, record) = try await RehearseFolder().rehearsed(filter.command)
    #expect(run.exit == .status(99))
    let scenario = try #require(record.scenarios.first)
    #expect(!scenario.passed)
    let finding = try #require(scenario.findings.first)
    #expect(finding.kind == filter.kind, "\(scenario.findings)")
    if let payload = filter.payload { #expect(finding.payload == payload) }
    #expect(finding.message.contains(filter.word), "\(finding.message)")
    #expect(run.text.contains("FAIL  three-lines-pass"))
    #expect(run.text.contains(finding.message))
  }

  private static let faithful = [
    "cat", "sed -u ''", "while IFS= read -r line; do printf '%s\\n' \"$line\"; done", "sed -u 's/}$/,\"seen\":true}/'", "cat | cat | cat",
    "sed -u 's/:/: /g'", "sleep 0.5; exec cat",
  ]

  @Test(arguments: faithful)
  func `a filter that keeps the promise passes`(command: String) async throws {
    let (run, record) = try await RehearseFolder().rehearsed(command)
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.scenarios.map(\.passed) == [true])
    #expect(record.scenarios[0].payloads.compactMap(\.latenessMs).count == 3)
  }

  @Test(arguments: [(wait: 1_400, isLate: false), (wait: 0, isLate: true), (wait: 100_000, isLate: false)])
  func `a line that waited for its place behind others is late only after its own deadline`(wait: Int, isLate: Bool) async throws {
    let folder = try RehearseFolder(["three": RehearseFolder.three.replacing("300ms", with: "2s")])
    // It reads all lines at once, but has one place.
    let filter = """
      for line in 1 2 3; do
        printf '{"line":%s,"outcome":"passthrough","place_wait_ms":%s,"elapsed_ms":1400,"media":[]}\\n' $line \(wait)
      done > "$REHEARSAL_REPORT"
      IFS= read -r a; IFS= read -r b; IFS= read -r c
      for line in "$a" "$b" "$c"; do sleep 1.4; printf '%s\\n' "$line"; done
      """
    let (run, record) = try await folder.rehearsed(filter)
    #expect(run.exit == .status(isLate ? 99 : 0), "\(run.text)")
    #expect(record.scenarios[0].findings.map(\.kind) == (isLate ? ["late", "late"] : []))
  }

  @Test func `lines may be in any order where that is said`() async throws {
    let backwards = "IFS= read -r a; IFS= read -r b; printf '%s\\n%s\\n' \"$b\" \"$a\"; exec cat"
    let run = try await RehearseFolder().rehearse(["--command", backwards, "--any-order"])
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `a last line without ending is answered when the input ends`() async throws {
    let folder = try RehearseFolder(["no-ending": RehearseFolder.three + "\nlast-line-feed: false\n"])
    let run = try await folder.rehearse(["--command", "cat"])
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `a filter that hangs without a word is found out once, where it is soonest`() async throws {
    let folder = try RehearseFolder(["a-slow": RehearseFolder.three.replacing("300ms", with: "30s")])
    try folder.write(RehearseFolder.three, as: "b-fast")
    try folder.write(RehearseFolder.three.replacing("300ms", with: "20s"), as: "c-slow")
    let (run, record) = try await folder.rehearsed("sleep 1000")
    #expect(run.exit == .status(99))
    #expect(record.scenarios.map(\.kinds) == [[], ["hung"], []])
    let skipped = "not rehearsed: the command hung in b-fast; --keep-going plays the others all the same"
    #expect(record.scenarios.compactMap(\.skipped) == Array(repeating: skipped, count: 2))
    #expect(record.elapsedMs < 10_000)
    #expect(run.text.contains("0 passed, 1 failed, 2 skipped"))
  }

  @Test func `a command is ended so long after its deadline as is said`() async throws {
    let (run, record) = try await RehearseFolder().rehearsed("cat; sleep 1000", ["--hang-after", "10ms", "--slack", "50ms"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["hung"])
    let end = try #require(record.scenarios[0].timeline.last { $0.actor == "filter" })
    #expect(end.text.contains("was killed"))
    #expect(end.atMs >= 360)
  }

  @Test func `the whole group of a command is ended`() async throws {
    let folder = try RehearseFolder()
    let command = "sleep 1000 & echo $! > \(folder["left"]); exec cat"
    #expect(try await folder.rehearse(["--command", command]).exit == .status(0))
    try await isGone(folder["left"])
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal ends the commands too`(signal: Int32) async throws {
    let folder = try RehearseFolder(["three-lines-pass": RehearseFolder.three.replacing("300ms", with: "60s")])
    #expect(unsafe mkfifo(folder["begun"], 0o600) == 0)
    let command = "echo $$ > \(folder["begun"]); exec sleep 1000"
    let program = try folder.tool.start(["rehearse", folder.path, "--command", command])
    let reader = try Program(Launch(path: "/bin/cat", arguments: [folder["begun"]]))
    let begun = try #require(await reader.lines(1).first)
    program.send(signal)
    #expect(await program.exit() == .status(75))
    try Data(begun.utf8).write(to: URL(filePath: folder["left"]))
    try await isGone(folder["left"])
  }

  /// Returns when the process with the number in a file has ended. The kernel may need a moment to
  /// take down a killed process.
  private func isGone(_ file: String) async throws {
    let number = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    await Program.isGone(try #require(pid_t(number)))
  }

  @Test func `a command finds the scenario's world in its environment`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    let command = "env | grep ^REHEARSAL_ | sort > \(folder["seen"]); test -d \"$REHEARSAL_STORE\" && exec cat"
    #expect(try await folder.rehearse(["--command", command, "--time-scale", "0.5"]).exit == .status(0))
    let seen = try String(contentsOfFile: folder["seen"], encoding: .utf8)
    #expect(seen.contains(/(?m)^REHEARSAL_DEADLINE_MS=400$/))
    #expect(seen.contains(/(?m)^REHEARSAL_ORIGIN=http:\/\/127\.0\.0\.1:\d+$/))
    #expect(seen.contains(/(?m)^REHEARSAL_DNS=127\.0\.0\.1:\d+$/))
    #expect(seen.contains(/(?m)^REHEARSAL_FLAGS=.*--allow-http .*--deadline 400\.000ms .*--store \S+ --report \S+/))
    #expect(seen.contains(/(?m)^REHEARSAL_REPORT=\/.+$/))
  }

  @Test func `a scenario with another extension or a stop is not for any filter, which is said`() async throws {
    let folder = try RehearseFolder(["blocks": RehearseFolder.three + "\nextension: blocks\n"])
    try folder.write(RehearseFolder.three + "\nstop: 100ms\n", as: "stops")
    let (run, record) = try await folder.rehearsed("cat")
    #expect(run.exit == .status(99), "nothing was rehearsed")
    #expect(record.scenarios.compactMap(\.skipped).count == 2)
    #expect(run.text.contains("skip  blocks"))
  }

  @Test func `a filter that begins to read when every deadline is over is late`() async throws {
    let folder = try RehearseFolder(["waits": RehearseFolder.three])
    let (run, record) = try await folder.rehearsed(
      "sleep 3; x=$(cat); sleep 1.5; printf '%s\\n' \"$x\"", ["--hang-after", "20s"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds.contains("late"), "\(run.text)")
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal ends a rehearsal at once, and the reports hold what has run`(signal: Int32) async throws {
    let folder = try RehearseFolder([
      "stalls": """
      payloads: ['{"aps":{"alert":"Hi","mutable-content":1},"image":"{{origin}}/a.jpg"}']
      origin: {/a.jpg: [stall]}
      deadline: 10m

      """
    ])
    try folder.write(RehearseFolder.three, as: "ends")
    let program = try folder.tool.start([
      "rehearse", "--clock", "real", "--parallel", "2", folder.path, "--json", folder["rehearsal.json"], "--junit", folder["junit.xml"],
    ])
    // Both have started when one of them has ended.
    _ = await program.lines(1)
    program.send(signal)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.text.contains("interrupted after 2 of 2 scenarios"), "\(run.text)")
    let record = try RehearseFolder.read(folder["rehearsal.json"])
    #expect(record.scenarios.map(\.name) == ["ends", "stalls"])
    #expect(record.scenarios.map(\.passed) == [true, false] && record.scenarios.map(\.skipped) == [nil, "interrupted"])
    #expect(try XMLTree(contentsOfFile: folder["junit.xml"]).attributes["tests"] == "2")
  }

  @Test func `a rehearsal that is started to outlive its terminal does`() async throws {
    let folder = try RehearseFolder()
    #expect(unsafe mkfifo(folder["begun"], 0o600) == 0)
    let command = "kill -HUP $PPID; echo > \(folder["begun"]); exec cat"
    let shell = "trap '' HUP; exec \(AttacheTool.folder)/attache rehearse --command '\(command)' \(folder.path)"
    let program = try Program(Launch(path: "/bin/sh", arguments: ["-c", shell]))
    let reader = try Program(Launch(path: "/bin/cat", arguments: [folder["begun"]]))
    _ = await reader.lines(1)
    #expect(await program.exit() == .status(0))
  }

  @Test func `with --keep-going a wrong file fails by itself, and a hang stops nothing`() async throws {
    let folder = try RehearseFolder()
    try folder.write("payloads: ['{}']\ndeadlin: 2s\n", as: "a-slip")
    try folder.write(RehearseFolder.three, as: "also")
    let (run, record) = try await folder.rehearsed("cat", ["--keep-going"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios.map(\.name) == ["a-slip", "also", "three-lines-pass"])
    #expect(record.scenarios.map(\.kinds) == [["stage"], [], []])
    #expect(run.text.contains("a-slip.yaml:2:1: deadlin: there is no such field"), "\(run.text)")
    let (_, hung) = try await folder.rehearsed("sleep 1000", ["--keep-going"])
    #expect(hung.scenarios.map(\.kinds) == [["stage"], ["hung"], ["hung"]])
  }

  @Test func `what --expect promise leaves out is said`() async throws {
    let folder = try RehearseFolder()
    let (run, record) = try await folder.rehearsed("cat")
    let note = "--expect promise does not check what the scenarios expect: outcomes, reasons,"
    #expect(run.text.contains("\n\(note)") && run.text.contains("--expect all does\n"), "\(run.text)")
    #expect(record.notes?.count == 1)
    #expect(try await folder.rehearse(["--command", "cat", "--tap"]).text.contains("\n# \(note)"))
    #expect(try await !folder.rehearse(["--command", "cat", "--expect", "all"]).text.contains("--expect promise"))
    #expect(try await !folder.rehearse(["--clock", "virtual"]).text.contains("--expect promise"))
  }

  @Test func `a folder's scenarios of ten thousand lines are left out for a command, which is said`() async throws {
    let many = "payloads: [{line: '{}', times: 10000}]\ndeadline: 30s\n"
    let folder = try RehearseFolder(["many": many, "three-lines-pass": RehearseFolder.three])
    let (run, record) = try await folder.rehearsed("cat")
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.scenarios.map(\.skipped) == ["it has 10000 payloads; --large plays it", nil])
    #expect(run.text.contains("1 scenario of 10,000 payloads or more is skipped for a command: many; --large plays them"))
    #expect(try await folder.rehearsed("cat", ["--large"]).record.scenarios.map(\.passed) == [true, true])
    let named = try await folder.tool.run(["rehearse", "--command", "cat", folder.path + "/many.yaml"])
    #expect(named.exit == .status(0) && named.text.contains("1 passed, 0 failed, 0 skipped"), "\(named.text)")
  }

  @Test func `a terminal shows which scenarios are played`() async throws {
    let folder = try RehearseFolder()
    let terminal = try Terminal()
    let program = try folder.tool.start(["rehearse", folder.path, "--command", "cat"]) { launch in
      launch.errors = .descriptor(terminal.program)
      launch.environment["TERM"] = "xterm"
    }
    terminal.closeProgramSide()
    #expect(await program.exit() == .status(0))
    #expect(await terminal.everything() == "\r\u{1B}[K0 of 1, playing three-lines-pass\r\u{1B}[K")
  }

  @Test func `what a scenario's flags hold is neither split nor replaced by the shell`() async throws {
    let folder = try RehearseFolder(["pattern": RehearseFolder.three + "\nflags: ['--media-key', '*', '--allow-host', '*.example']\n"])
    // A blank after U+0600 is not a separate Character.
    try folder.write(RehearseFolder.three + "\nflags: [\"--output-key=\\u0600 --allow-net ::/0\"]\n", as: "split")
    let command = "printf '%s\\n' $REHEARSAL_FLAGS > \(folder["seen"]); exec cat"
    let (_, record) = try await folder.rehearsed(command, ["--parallel", "1"])
    #expect(record.scenarios[0].passed)
    #expect(record.scenarios[1].skipped?.contains("contains a blank, which is not possible in REHEARSAL_FLAGS") == true)
    let seen = try String(contentsOfFile: folder["seen"], encoding: .utf8)
    #expect(seen.contains("\n--media-key=*\n--allow-host=*.example\n"), "\(seen)")
  }
}
