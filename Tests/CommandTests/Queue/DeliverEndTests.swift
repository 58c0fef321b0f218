import Foundation
import Glibc
import Testing

/// Signals, usage and the rate.
extension DeliverTests {
  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `a signal ends it once what was sent is answered`(signal: Int32) async throws {
    let queue = try await queue()
    let (got, gate) = (queue.tool.home["got"], queue.tool.home["gate"])
    let body = "echo \"$line\" >>\"$1\"; until [ -e \"\(gate)\" ]; do sleep 0.01; done; echo ok"
    let program = try queue.start("deliver", ["--jobs", "3", "--"] + shell(body, got))
    _ = try await queue.state { _ in !text(got).isEmpty }
    program.send(signal)
    await program.signalsAreTaken()
    try "".write(toFile: gate, atomically: false, encoding: .utf8)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.errors.contains("attache: delivered 3, "))
    #expect(try await queue.state().unread == 17)
  }

  @Test func `a deliverer that is stopped says what it waits for, and a second signal waits for no answer`() async throws {
    let queue = try await queue("{\"n\":1}\n")
    let got = queue.tool.home["got"]
    let program = try queue.start("deliver", ["--"] + shell("echo \"$line\" >>\"$1\"; exec sleep 100", got))
    _ = try await queue.state { _ in !text(got).isEmpty }
    program.send(SIGTERM)
    let errors = await program.errors(holding: "another signal does not wait\n")
    #expect(errors.contains("stopping: results that were sent have --answer-timeout for their answers; "))
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(try await queue.state().unread == 1)
  }

  @Test(arguments: [
    (["--"], 64, "name the command that sends"), (["--each", "--envelope", "--", "cat"], 64, "remove --each or --envelope"),
    (["--rate", "fast", "--", "cat"], 64, "--rate"), (["--jobs", "0", "--", "cat"], 64, "--jobs must be at least 1"),
    (["--", "no-such-command-at-all"], 69, "the sender cannot be started: no-such-command-at-all: No such file or directory"),
  ])
  func `wrong usage says what is right`(arguments: [String], status: Int32, message: String) async throws {
    let run = try await queue("{}\n").run("deliver", arguments)
    #expect(run.exit == .status(status))
    #expect(run.errors.contains(message))
  }

  @Test func `the rate is kept`() async throws {
    let queue = try await queue()
    let start = ContinuousClock.now
    let run = try await deliver(queue, ["--rate", "100/s"], shell("echo ok"))
    #expect(run.exit == .status(0))
    // The first ten may come immediately.
    #expect(ContinuousClock.now - start >= .milliseconds(90))
  }
}
