import Testing

/// A system that gives too little.
@Suite(.timeLimit(.minutes(1)))
struct ScarcityTests {
  @Test func `too few descriptors end with a message and a status, never with a crash`() async throws {
    let tool = try AttacheTool()
    var exits: Set<Program.Exit> = []
    for count in 4...18 {
      let limit = Launch(
        path: "/usr/bin/prlimit", arguments: ["--nofile=\(count)", AttacheTool.folder + "/attache"], environment: tool.environment)
      let program = try Program(limit)
      program.input.close()
      let run = await program.finished()
      exits.insert(run.exit)
      #expect(run.errors.contains("attache: "), "\(count)")
    }
    #expect(exits.isSuperset(of: [.status(73), .status(70)]), "without a store, and without an engine")
    #expect(exits.isSubset(of: [.status(73), .status(70), .status(0)]))
  }
}
