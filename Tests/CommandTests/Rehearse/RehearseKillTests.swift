import Foundation
import Testing

/// Commands that are killed, and started again.
@Suite(.timeLimit(.minutes(1)))
struct RehearseKillTests {
  @Test(arguments: ["start", "fed", "request", "request:2", "sent", "line"])
  func `attache loses no line at any point`(point: String) async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    let (run, record) = try await folder.rehearsed("attache $REHEARSAL_FLAGS", ["--kill-at", point])
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.scenarios[0].skipped == nil)
    #expect(record.scenarios[0].timeline.contains { $0.text.hasPrefix("killed at \(point)") })
  }

  @Test func `random moments are the same for a seed`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    let run = try await folder.rehearse(["--command", "attache $REHEARSAL_FLAGS", "--kill-random", "2", "--seed", "7"])
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(run.text.contains("seed 7"))
  }

  @Test func `a filter that forgets a line after a restart is found out`() async throws {
    let folder = try RehearseFolder()
    let (run, record) = try await folder.rehearsed(restarted(folder, with: "sed -u 1d"), ["--kill-at", "fed"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["lost"])
    #expect(record.scenarios[0].findings[0].message.hasPrefix("killed at fed and started again: "))
  }

  @Test func `a line that a kill tears is found out`() async throws {
    let folder = try RehearseFolder()
    let (run, record) = try await folder.rehearsed(restarted(folder, with: "cat", says: "{\"aps\":"), ["--kill-at", "fed"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["torn"])
  }

  @Test func `a filter that takes up again where it was killed passes`() async throws {
    let folder = try RehearseFolder()
    let run = try await folder.rehearse(["--command", restarted(folder, with: "cat"), "--kill-at", "fed"])
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `a point that never comes is said, and is no success`() async throws {
    let (run, record) = try await RehearseFolder().rehearsed("cat", ["--kill-at", "request"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].skipped?.contains("no kill point was reached") == true)
  }

  @Test func `what breaks the promise undisturbed is said, killed or not`() async throws {
    for point in [["--kill-at", "request"], ["--kill-random", "1"]] {
      let (run, record) = try await RehearseFolder().rehearsed("sed -u 2d", point)
      #expect(run.exit == .status(99))
      #expect(record.scenarios[0].kinds == ["lost"])
    }
  }

  /// A command that reads all its input and answers nothing in its first run, and behaves
  /// differently in the next.
  private func restarted(_ folder: RehearseFolder, with second: String, says word: String = "") -> String {
    let mark = folder["ran"]
    return "test -e \(mark) && exec \(second); touch \(mark); printf %s '\(word)'; cat > /dev/null; sleep 1000"
  }
}
