import Glibc
import Testing

/// A system with too few resources.
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
    #expect(exits.isSuperset(of: [.status(73), .status(70)]), "73 without a store, 70 without an engine")
    #expect(exits.isSubset(of: [.status(73), .status(70), .status(0)]))
  }

  /// With so few descriptors, names cannot be looked up, fetchers, detectors and converters not be
  /// started, and files not be made.
  @Test func `a line that falls back for lack of descriptors names the limit`() async throws {
    let tool = try AttacheTool()
    let payloads = (1...6).map { Sample.payload("http://media\($0).example/a.png") + "\n" }.joined()
    var whys: Set<String> = []
    for count in Array(16...24) + [32, 40] {
      let limit = Launch(
        path: "/usr/bin/prlimit",
        arguments: ["--nofile=\(count)", AttacheTool.folder + "/attache", "--dns-server", "127.0.0.1:9"]
          + AttacheTool.loopback, environment: tool.environment)
      let program = try Program(limit)
      program.input.write(payloads)
      program.input.close()
      let run = await program.finished()
      guard run.exit == .status(0) else {
        #expect(run.exit == .status(70) && run.errors.contains("(ulimit -n), which is \(count)"), "\(count): \(run.errors)")
        continue
      }
      #expect(run.text == payloads)
      #expect(run.errors.contains("the limit on open files (ulimit -n) is \(count), so that media may not be fetched; attache needs 131"))
      #expect(!run.errors.contains("deadline"), "\(count): \(run.errors)")
      for why in ["could not look up", "no fetcher can be started"] where run.errors.contains(why) { whys.insert(why) }
    }
    #expect(whys.contains("could not look up"))
    #expect(whys.contains("no fetcher can be started"))
  }

  @Test(arguments: ["work", "batch"])
  func `a worker with too few descriptors to work ends with a message`(command: String) async throws {
    let tool = try AttacheTool()
    let queue = "sqlite:" + tool.home["queue"]
    #expect(try await tool.run(["enqueue", "--queue", queue], input: Sample.plain + "\n").exit == .status(0))
    let words = command == "work" ? ["work", "--once", "--queue", queue] : ["batch", "-", "-o", tool.home["out"]]
    for (count, exit) in Array(22...40).map({ ($0, Program.Exit.status(70)) }) + [(63, .status(70)), (64, .status(0))] {
      let limit = Launch(
        path: "/usr/bin/prlimit", arguments: ["--nofile=\(count)", AttacheTool.folder + "/attache"] + words,
        environment: tool.environment, folder: tool.home)
      let program = try Program(limit)
      program.input.write(Sample.plain + "\n")
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == exit, "\(count): \(run.errors)")
      let sentence = "attache: the limit on open files (ulimit -n) is \(count), and this command needs 64; raise it\n"
      #expect(run.errors.contains(sentence) == (exit == .status(70)), "\(count): \(run.errors)")
    }
  }

  /// The limit is that of a user without other processes; it does not apply to root.
  @Test(arguments: [["rehearse", "nowhere.yaml"], ["preview", "nowhere.ndjson", "-o", "page.html"]], [1, 3])
  func `a command whose libraries need threads ends with 70 without them`(words: [String], count: Int) async throws {
    let user = getuid() == 0 ? ["--reuid=61234", "--regid=61234", "--clear-groups", "prlimit"] : ["prlimit"]
    let launch = Launch(
      path: "/usr/bin/env",
      arguments: (getuid() == 0 ? ["setpriv"] : []) + user + ["--nproc=\(count)", AttacheTool.folder + "/attache"] + words,
      environment: ["PATH": "/usr/bin:/bin"])
    let run = try await Program(launch).finished()
    #expect(run.exit == .status(70), "\(run.errors)")
    #expect(
      run.errors.contains(
        "threads: pthread_create: Resource temporarily unavailable; raise the limit on processes (ulimit -u), which is \(count)"))
  }

  /// The status is 127 if the command cannot be loaded at all. With up to half a megabyte more, the
  /// runtimes of Swift and C++ abort, or fault if they do not check an allocation.
  @Test(.enabled(if: !Build.isSanitized, "a sanitizer reserves terabytes"), arguments: ["enqueue", "work", "batch"])
  func `a command of the queue that gets no thread or no memory ends with 70, and never waits for either`(command: String) async throws {
    let tool = try AttacheTool()
    let queue = "sqlite:" + tool.home["queue"]
    #expect(try await tool.run(["enqueue", "--queue", queue], input: Sample.plain + "\n").exit == .status(0))
    var exits: Set<Program.Exit> = []
    for megabytes in Array(stride(from: 112, through: 136, by: 3)) + [150, 170, 200, 250, 300] {
      var words = [command, "--queue", queue]
      if command == "work" { words.append("--once") }
      if command == "batch" { words = ["batch", "-", "-o", tool.home["out"]] }
      let limit = Launch(
        path: "/usr/bin/prlimit", arguments: ["--as=\(megabytes)000000", AttacheTool.folder + "/attache"] + words,
        // Swift's backtracer has no memory either, and changes the signal of an abort.
        environment: tool.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }, folder: tool.home)
      let program = try Program(limit)
      program.input.write(Sample.plain + "\n")
      program.input.close()
      let run = await program.finished()
      exits.insert(run.exit)
      let allowed: Set<Program.Exit> = [.status(0), .status(70), .status(127), .signal(SIGABRT), .signal(SIGILL), .signal(SIGSEGV)]
      #expect(allowed.contains(run.exit), "\(megabytes) MB: \(run.exit) \(run.errors)")
      if run.errors.contains("cannot start a thread") { #expect(run.exit == .status(70), "\(megabytes) MB: \(run.errors)") }
    }
    #expect(exits.contains(.status(70)))
  }
}
