import Foundation
import Testing

/// Workers of queues, rehearsed with scenarios.
@Suite(.timeLimit(.minutes(1)))
struct RehearseQueueTests {
  @Test func `attache work does all that is expected`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos, "three-lines-pass": RehearseFolder.three])
    let (run, record) = try await folder.recorded(["--queue", "sqlite"])
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.clock == "queue sqlite")
    #expect(record.scenarios.map(\.depth) == ["queue", "queue"])
    #expect(record.scenarios[0].payloads.map(\.outcome) == ["attached", "fallback"])
    #expect(record.scenarios[0].payloads.map(\.reason) == [nil, "deadline"])
    #expect(record.scenarios[0].payloads.allSatisfy { $0.latenessMs.map { $0 <= 0 } == true })
  }

  @Test func `wrong expectations are found out`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos.replacing("reason: deadline", with: "reason: http.status")])
    let (run, record) = try await folder.recorded(["--queue", "sqlite", "--expect", "all"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["reason"])
  }

  @Test func `a worker that is killed again and again loses nothing and doubles nothing`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos, "three-lines-pass": RehearseFolder.three])
    let (run, record) = try await folder.recorded(["--queue", "sqlite", "--kill-random", "6", "--seed", "3"])
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.scenarios[0].timeline.contains { $0.text.hasPrefix("the worker killed after ") })
  }

  /// Workers that break the promise: the shell command, and the expected finding.
  private static let broken = [
    ("attache purge --queue $REHEARSAL_QUEUE --older-than 0s --include-undelivered", "lost"),
    ("printf '{\"aps\":{\"alert\":\"Hello\"},\"n\":2}\\n' | attache enqueue --queue $REHEARSAL_QUEUE; $WORK", "duplicated"),
    ("echo oh dear >&2; exit 3", "exit"), ("sleep 1000", "hung"),
  ]

  @Test(arguments: broken, [["--kill-random", "2"], []])
  func `a worker that loses, doubles, fails or hangs is found out`(second: (command: String, kind: String), kills: [String]) async throws {
    let work = "attache work --queue $REHEARSAL_QUEUE --once $REHEARSAL_FLAGS"
    let command = "\(work); \(second.command.replacing("$WORK", with: work))"
    let (run, record) = try await RehearseFolder().rehearsed(
      command, ["--queue", "sqlite", "--hang-after", second.kind == "hung" ? "1s" : "20s"] + kills)
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds.contains(second.kind), "\(run.text)")
  }

  @Test func `a payload path is no part of the shell's command`() async throws {
    let folder = try RehearseFolder()
    let flags = "['--payload-path', '/a'';touch$IFS\(folder["ran"]);''']"
    try folder.write(RehearseFolder.three + "\nflags: \(flags)\n", as: "three-lines-pass")
    _ = try await folder.recorded(["--queue", "sqlite"])
    #expect(!FileManager.default.fileExists(atPath: folder["ran"]))
  }

  @Test func `a worker that loses only after a kill is found out`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    let mark = folder["ran"]
    let work = "attache work --queue $REHEARSAL_QUEUE --once --poison-after 1000000 $REHEARSAL_FLAGS"
    // The first run has no kill.
    let command =
      "test -e \(mark).2 && { \(work); exec attache purge --queue $REHEARSAL_QUEUE --older-than 0s --include-undelivered; }; "
      + "test -e \(mark) && { touch \(mark).2; exec sleep 1000; }; touch \(mark); exec \(work)"
    let (run, record) = try await folder.rehearsed(command, ["--queue", "sqlite", "--kill-random", "1"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds.contains("lost"), "\(run.text)")
    #expect(record.scenarios[0].findings[0].message.hasPrefix("killed once and started again: "))
  }

  @Test func `a queue that takes nothing in is said`() async throws {
    let folder = try RehearseFolder()
    let (run, record) = try await folder.rehearsed("rm -r ${REHEARSAL_QUEUE#*:}*", ["--queue", "sqlite"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["stage"])
    #expect(record.scenarios[0].findings[0].message.hasPrefix("attache results --report ended with status 69"), "\(run.text)")
  }

  @Test func `what speaks of the filter alone is skipped, which is said`() async throws {
    let folder = try RehearseFolder(["stops": RehearseFolder.three + "\nstop: 100ms\n"])
    try folder.write(RehearseFolder.three + "\nflags: --unordered\n", as: "unordered")
    let (run, record) = try await folder.recorded(["--queue", "sqlite"])
    #expect(run.exit == .status(99), "nothing was rehearsed")
    #expect(
      record.scenarios.map(\.skipped) == ["a worker does not stop as a filter does", "--unordered is a flag of the filter only"])
  }
}
