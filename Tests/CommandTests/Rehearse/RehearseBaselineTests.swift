import Foundation
import Testing

/// A rehearsal compared with an earlier one.
@Suite(.timeLimit(.minutes(1)))
struct RehearseBaselineTests {
  @Test func `what is as it was passes`() async throws {
    let folder = try RehearseFolder()
    let baseline = try await baseline(folder)
    let run = try await folder.rehearse(["--command", "cat", "--baseline", baseline])
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `a baseline of another version is a wrong file`() async throws {
    let folder = try RehearseFolder()
    let baseline = try await baseline(folder)
    let text = try String(contentsOfFile: baseline, encoding: .utf8)
    try text.replacing(/"version" ?: ?1/, with: "\"version\":99").write(toFile: baseline, atomically: true, encoding: .utf8)
    let run = try await folder.rehearse(["--command", "cat", "--baseline", baseline])
    #expect(run.exit == .status(65))
    #expect(run.errors.contains("version: 99 is not 1"), "\(run.errors)")
  }

  @Test func `a changed outcome is a failure`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    let old = try await baseline(folder, "attache $REHEARSAL_FLAGS")
    let (run, record) = try await folder.rehearsed("cat", ["--baseline", old])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].findings.prefix(2).map(\.payload) == [1, 2])
    #expect(Set(record.scenarios[0].kinds) == ["baseline"])
    #expect(record.scenarios[0].findings[0].message.contains("was attached in"))
    #expect(record.scenarios[0].findings[1].message.contains("was fallback (deadline) in"))
  }

  @Test func `a lateness that grew by more than the tolerance is a failure`() async throws {
    let folder = try RehearseFolder()
    let old = try await baseline(folder)
    let slow = "while IFS= read -r line; do sleep 0.2; printf '%s\\n' \"$line\"; done"
    let (run, record) = try await folder.rehearsed(slow, ["--baseline", old])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["baseline"])
    #expect(record.scenarios[0].findings[0].message.contains("it grew by more than 100 ms"))
    #expect(try await folder.rehearse(["--command", slow, "--baseline", old, "--tolerance", "10s"]).exit == .status(0))
  }

  @Test func `a scenario that is gone is a failure, unless only others were asked for`() async throws {
    let folder = try RehearseFolder()
    try folder.write(RehearseFolder.three, as: "another")
    let old = try await baseline(folder)
    try FileManager.default.removeItem(atPath: folder.path + "/another.yaml")
    let (run, record) = try await folder.rehearsed("cat", ["--baseline", old])
    #expect(run.exit == .status(99))
    #expect(record.scenarios.map(\.name) == ["another", "three-lines-pass"])
    #expect(record.scenarios[0].kinds == ["baseline"])
    #expect(try await folder.rehearse(["--command", "cat", "--baseline", old, "--only", "three"]).exit == .status(0))
  }

  @Test(arguments: ["", "[]", "{\"version\":1}", "not json"])
  func `a file that is no baseline ends with 65`(text: String) async throws {
    let folder = try RehearseFolder()
    try Data(text.utf8).write(to: URL(filePath: folder["old.json"]))
    let run = try await folder.rehearse(["--command", "cat", "--baseline", folder["old.json"]])
    #expect(run.exit == .status(65))
    #expect(run.errors.contains(folder["old.json"]))
    #expect(run.errors.contains("a baseline is a file that --json wrote"))
  }

  @Test func `a baseline of another clock ends with 65`() async throws {
    let folder = try RehearseFolder()
    let old = try await baseline(folder)
    let run = try await folder.rehearse(["--baseline", old])
    #expect(run.exit == .status(65))
    #expect(run.errors.contains("use the same clock"))
  }

  private func baseline(_ folder: RehearseFolder, _ command: String = "cat") async throws -> String {
    let run = try await folder.rehearse(["--command", command, "--json", folder["old.json"]])
    #expect(run.exit == .status(0), "\(run.text)")
    return folder["old.json"]
  }
}
