import Foundation
import Testing

/// What scenarios expect beyond the promise, of a command and of the engine.
@Suite(.timeLimit(.minutes(1)))
struct RehearseDemandTests {
  @Test func `attache does all that is expected, as the engine and as a command`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    for arguments in [[], ["--command", "attache $REHEARSAL_FLAGS"], ["--command", "attache $REHEARSAL_FLAGS", "--expect", "all"]] {
      let (run, record) = try await folder.recorded(arguments)
      #expect(run.exit == .status(0), "\(run.text)")
      #expect(record.scenarios[0].payloads.map(\.outcome) == ["attached", "fallback"])
      #expect(record.scenarios[0].payloads.map(\.reason) == [nil, "deadline"])
      #expect(Set(record.scenarios[0].timeline.map(\.actor)).isSuperset(of: ["payload", "origin", "decision"]))
    }
  }

  @Test func `cat keeps the promise and does not do what is expected`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos])
    #expect(try await folder.rehearse(["--command", "cat"]).exit == .status(0))
    let (run, record) = try await folder.rehearsed("cat", ["--expect", "all"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["outcome", "attachments", "requests", "requests"])
  }

  @Test func `a line that gains nothing is expected byte for byte where everything is`() async throws {
    let folder = try RehearseFolder([
      "passes": "payloads: ['{\"a\":1}']\nexpect: {outcome: passthrough}\n"
    ])
    #expect(try await folder.rehearse(["--command", "sed -u 's/:/: /'"]).exit == .status(0))
    let (run, record) = try await folder.rehearsed("sed -u 's/:/: /'", ["--expect", "all"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios[0].kinds == ["altered"])
  }

  @Test func `wrong expectations are found out by name`() async throws {
    let wrong = [
      ("size: 2000", "size: 2001", "attachments"), ("outcome: attached", "outcome: passthrough", "outcome"),
      ("jpg: 1,", "jpg: 2,", "requests"),
      ("reason: deadline", "reason: http.status", "reason"), ("requests:", "exit: 75\n  requests:", "exit"),
      ("requests:", "connections: 9\n  requests:", "connections"), ("requests:", "memory: 1KB\n  requests:", "memory"),
      ("requests:", "descriptors: 3\n  requests:", "descriptors"),
    ]
    let folder = try RehearseFolder([:])
    for (text, replacement, kind) in wrong {
      try folder.write(RehearseFolder.photos.replacing(text, with: replacement, maxReplacements: 1), as: kind)
    }
    let (run, record) = try await folder.rehearsed("attache $REHEARSAL_FLAGS", ["--expect", "all"])
    #expect(run.exit == .status(99))
    #expect(record.scenarios.count == wrong.count)
    for scenario in record.scenarios { #expect(scenario.kinds.contains(scenario.name), "\(scenario.name): \(scenario.findings)") }
  }

  @Test(arguments: ["attache $REHEARSAL_FLAGS", "exec attache $REHEARSAL_FLAGS"])
  func `a command that is told to stop is told, whatever shell leads it`(command: String) async throws {
    let stops = RehearseFolder.photos.replacing("expect:", with: "stop: 300ms\nexpect:\n  exit: 75")
    let folder = try RehearseFolder(["stops": stops])
    try folder.write(
      stops.replacing("stop:", with: "cancel:").replacing("reason: deadline", with: "reason: cancelled").replacing("800ms", with: "10s"),
      as: "cancels")
    let run = try await folder.rehearse(["--command", command, "--expect", "all"])
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `the engine is played at another speed`() async throws {
    let folder = try RehearseFolder(["photos": RehearseFolder.photos.replacing("800ms", with: "8s").replacing("300ms", with: "4s")])
    let (run, record) = try await folder.recorded(["--time-scale", "0.1"])
    #expect(run.exit == .status(0), "\(run.text)")
    #expect(record.elapsedMs < 4_000)
  }

  @Test(arguments: [("fetcher-dies", 128 + SIGKILL), ("fetcher-crashes", 128 + SIGSEGV)])
  func `a step ends the process that sent the request, where all is asked for`(step: String, status: Int32) async throws {
    let folder = try RehearseFolder(["end": "payloads: ['{}']\norigin: {/a: [\(step)]}\ndeadline: 20s\n"])
    let connection = "/dev/tcp/127.0.0.1/${REHEARSAL_ORIGIN##*:}"
    let client = #"exec 3<>\#(connection); printf "GET /a HTTP/1.1\r\nHost: x\r\n\r\n" >&3; read -r line <&3"#
    // The client's own exit status shows the signal.
    let command = "bash -c '\(client)'; test $? = \(status) && exec cat"
    let (_, record) = try await folder.rehearsed(command, ["--expect", "all"])
    #expect(record.scenarios.map(\.passed) == [true])
    let (_, promise) = try await folder.rehearsed("cat")
    #expect(
      promise.scenarios[0].skipped?.hasSuffix("the promise says nothing about the end of a filter's processes; --expect all checks it")
        == true)
  }
}
