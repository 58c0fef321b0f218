import AttacheTesting
import Foundation
import Glibc
import Testing

/// Commands whose queue another process has locked. The clock of a wait is real, so each test takes
/// the two seconds after which a wait is reported.
@Suite(.timeLimit(.minutes(1)))
struct LockTests {
  private static let sender = ["--", "sh", "-c", "while read -r line; do echo ok; done"]

  @Test(
    arguments: [
      ("enqueue", [], .status(75)), ("work", [], .status(75)), ("deliver", sender, .status(75)), ("results", ["--follow"], .status(75)),
      ("queue", ["--watch"], .status(75)), ("results", [], .signal(SIGTERM)), ("queue", [], .signal(SIGTERM)),
      ("purge", ["--older-than", "1d"], .signal(SIGTERM)),
    ] as [(String, [String], Program.Exit)])
  func `a command that waits for the lock file says who holds it, and ends at the first signal`(
    command: String, arguments: [String], end: Program.Exit
  ) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let file = unsafe open(queue.tool.home["queue-workers"], O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    try #require(flock(file, LOCK_EX) == 0)
    let program = try queue.start(command, arguments)
    program.input.close()
    let errors = await program.errors(holding: " holds\n")
    #expect(
      errors.contains("attache: waiting for the lock of \(queue.tool.home["queue-workers"]), which process \(getpid()) ("), "\(errors)")
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == end)
    if case .status = end { #expect(run.errors.contains("attache: told to stop while waiting for the lock of"), "\(run.errors)") }
    #expect(flock(file, LOCK_UN) == 0)
    #expect(try await queue.state().ready == 1)
  }

  @Test(arguments: [("work", []), ("deliver", sender)] as [(String, [String])])
  func `a process that waits for the lock file is not ready, says who holds it, and goes on`(command: String, arguments: [String])
    async throws
  {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let path = queue.tool.home["queue-workers"]
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    try #require(flock(file, LOCK_EX) == 0)
    let program = try queue.start(command, ["--metrics", "0"] + arguments)
    let port = try await program.figuresPort()
    let ready = try await LoopbackClient.ask(port, "/readyz") { $0.body.hasPrefix("waiting") }
    #expect(ready.status == 503)
    #expect(ready.body.hasPrefix("waiting for the lock of \(path), which process \(getpid()) ("), "\(ready.body)")
    #expect(flock(file, LOCK_UN) == 0)
    _ = try await LoopbackClient.ask(port, "/readyz") { $0.status == 200 }
    program.send(SIGTERM)
    _ = await program.exit()
  }

  @Test func `a worker that waits for the database is not ready, says who has locked it, and goes on`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let worker = try queue.start("work", ["--metrics", "0"] + QueueTool.loopback)
    let port = try await worker.figuresPort()
    _ = try await queue.state { $0.done == 1 }
    let holder = try holder(of: queue)
    _ = await holder.lines(1)
    let sentence = "waiting for the lock of \(queue.tool.home["queue"]), which process \(holder.process) (python3, user "
    let ready = try await LoopbackClient.ask(port, "/readyz") { $0.status == 503 }
    #expect(ready.body.hasPrefix(sentence), "\(ready.body)")
    #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
    holder.input.close()
    _ = try await LoopbackClient.ask(port, "/readyz") { $0.status == 200 }
    worker.send(SIGTERM)
    let run = await worker.finished()
    #expect(run.exit == .status(0), "\(run.errors)")
    #expect(run.errors.contains("attache: " + sentence), "\(run.errors)")
  }

  @Test func `a worker that waits for the database ends at the first signal`() async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue", input: "{}\n")
    let worker = try queue.start("work", QueueTool.loopback)
    _ = try await queue.state { $0.done == 1 }
    let holder = try holder(of: queue)
    _ = await holder.lines(1)
    _ = await worker.errors(holding: " holds\n")
    worker.send(SIGTERM)
    let run = await worker.finished()
    #expect(run.exit == .status(75), "\(run.errors)")
    #expect(run.errors.contains("told to stop while waiting for the lock of"), "\(run.errors)")
    holder.input.close()
    #expect(await holder.exit() == .status(0))
  }

  /// Starts a process that has locked the database for writing, once it has written a line, until its
  /// input ends.
  private func holder(of queue: QueueTool) throws -> Program {
    let script = """
      import sqlite3, sys
      connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
      connection.execute('BEGIN IMMEDIATE')
      print('locked', flush=True)
      sys.stdin.read()
      """
    return try Program(
      Launch(path: "/usr/bin/python3", arguments: ["-c", script, queue.tool.home["queue"]], environment: queue.tool.environment))
  }

  @Test(.enabled(if: getuid() == 0, "becoming another user needs root"))
  func `whoever may only read a folder can open nothing in it that is locked`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let queue = try QueueTool()
      let home = queue.tool.home
      let store = home["store"]
      for folder in [home.path, store] {
        unsafe mkdir(folder, 0o755)
        unsafe chmod(folder, 0o755)
      }
      try await queue.work(Sample.payload(origin.url("/a.png")) + "\n", ["--store", store] + QueueTool.loopback)
      let keeper = try queue.start("work", ["--store", store, "--metrics", "0"] + QueueTool.loopback)
      _ = try await keeper.figuresPort()
      for name in ["queue", "queue-wal", "queue-shm", "queue-workers", "store/tmp", "store/.held", "store/.index"] {
        #expect(try await canRead(home[name]) == false, "\(name)")
      }
      // What is served to others can still be read.
      let stored = try #require(FileManager.default.subpathsOfDirectory(atPath: store).first { $0.hasSuffix(".png") && !$0.hasPrefix(".") })
      #expect(try await canRead("\(store)/\(stored)"))
      keeper.send(SIGTERM)
      #expect(await keeper.exit() == .status(0))
    }
  }

  @Test(.enabled(if: getuid() == 0, "becoming another user needs root"))
  func `files that everyone could read are closed to others when the queue is next opened`() async throws {
    let queue = try QueueTool()
    let home = queue.tool.home
    unsafe chmod(home.path, 0o755)
    _ = try await queue.run("enqueue", input: "{}\n")
    for name in ["queue", "queue-workers"] { unsafe chmod(home[name], 0o644) }
    #expect(try await canRead(home["queue-workers"]))
    #expect(try await queue.state().ready == 1)
    for name in ["queue", "queue-workers"] { #expect(try await canRead(home[name]) == false) }
  }

  /// Whether the user `nobody` can open a file for reading.
  private func canRead(_ path: String) async throws -> Bool {
    let program = try Program(
      Launch(
        path: "/usr/bin/setpriv", arguments: ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/test", "-r", path],
        environment: ["PATH": "/usr/bin"]))
    return await program.exit() == .status(0)
  }
}
