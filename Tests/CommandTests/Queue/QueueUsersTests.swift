import CoreFoundation
import Foundation
import Glibc
import Testing

/// Several users of one queue: the mode of its folder decides who may use it.
@Suite(.timeLimit(.minutes(1)), .enabled(if: getuid() == 0, "becoming another user needs root"))
struct QueueUsersTests {
  private static let group: gid_t = 4_242
  private let tool: AttacheTool

  init() throws {
    tool = try AttacheTool()
  }

  /// A folder of the first user, shared according to its mode.
  private func folder(_ mode: mode_t) -> String {
    let path = tool.home["queues"]
    unsafe mkdir(path, 0o700)
    unsafe chown(path, 4_241, Self.group)
    unsafe chmod(path, mode)
    return path
  }

  /// Starts a command as a member of the group.
  private func start(as user: uid_t, _ arguments: [String]) throws -> Program {
    try tool.start { launch in
      launch.arguments = ["--reuid", "\(user)", "--regid", "\(Self.group)", "--clear-groups", launch.path] + arguments
      launch.path = "/usr/bin/setpriv"
    }
  }

  private func run(as user: uid_t, _ arguments: [String], input: String = "") async throws -> Run {
    let program = try start(as: user, arguments)
    program.input.write(Array(input.utf8))
    program.input.close()
    return await program.finished()
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test func `two users of a group share the queue in a folder of the group's, whatever their masks are`() async throws {
    let path = folder(0o2770) + "/queue"
    let queue = "sqlite:\(path)"
    let first = try await run(as: 4_241, ["enqueue", "--queue", queue], input: "{}\n")
    #expect(first.exit == .status(0), "\(first.errors)")
    let worker = try start(as: 4_241, ["work", "--queue", queue, "--store", tool.home["queues/store"], "--metrics", "0"])
    _ = await worker.errors(holding: "/metrics\n")
    let second = try await run(as: 4_243, ["enqueue", "--queue", queue], input: "{}\n")
    #expect(second.exit == .status(0), "\(second.errors)")
    for suffix in ["", "-wal", "-shm", "-workers"] { #expect(mode(path + suffix) == 0o660, "\(suffix)") }
    worker.send(SIGTERM)
    _ = await worker.finished()
    let rest = try await run(as: 4_243, ["work", "--queue", queue, "--once", "--store", tool.home["queues/another store"]])
    #expect(rest.exit == .status(0), "\(rest.errors)")
    let results = try await run(as: 4_243, ["results", "--queue", queue])
    #expect(results.text == "{}\n{}\n", "\(results.errors)")
    #expect(try await run(as: 4_241, ["purge", "--queue", queue, "--older-than", "0s"]).exit == .status(0))
  }

  @Test func `a folder that is not shared has a queue that is not shared`() async throws {
    let path = folder(0o755) + "/queue"
    #expect(try await run(as: 4_241, ["enqueue", "--queue", "sqlite:\(path)"], input: "{}\n").exit == .status(0))
    #expect(mode(path) == 0o600)
    let other = try await run(as: 4_243, ["enqueue", "--queue", "sqlite:\(path)"], input: "{}\n")
    #expect(other.exit == .status(69))
    #expect(other.errors.contains("can write"), "\(other.errors)")
  }

  @Test func `in a sticky folder each queue is its maker's`() async throws {
    let path = folder(0o1777) + "/queue"
    #expect(try await run(as: 4_241, ["enqueue", "--queue", "sqlite:\(path)"], input: "{}\n").exit == .status(0))
    #expect((mode(path) ?? 0) & 0o022 == 0)
  }
}
