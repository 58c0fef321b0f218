import AttacheTesting
import Foundation

/// The built tool with its own home: it reads and writes no files of the user, and tests share
/// nothing.
final class AttacheTool: Sendable {
  let home: TemporaryFolder

  /// The folder of the built executables: the test bundle is beside them.
  static let folder: String = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (path as NSString).deletingLastPathComponent
  }()

  /// The flags that let the tool reach an origin on loopback.
  static let loopback = ["--allow-http", "--allow-net", "127.0.0.0/8"]

  init() throws {
    home = try TemporaryFolder()
  }

  /// The default store.
  var store: String { home["cache/attache"] }
  var report: String { home["report"] }

  var environment: [String: String] {
    [
      "HOME": home.path, "XDG_CACHE_HOME": home["cache"], "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
      // Options of the address sanitizer: the tool ends while threads run, and their objects are
      // not leaks.
      "ASAN_OPTIONS": "detect_leaks=0",
    ]
  }

  /// Starts `attache`. Descriptors that are not set are pipes.
  func start(_ arguments: [String] = [], change: (inout Launch) -> Void = { _ in }) throws -> Program {
    var launch = Launch(path: Self.folder + "/attache", arguments: arguments, environment: environment, folder: home)
    change(&launch)
    return try Program(launch)
  }

  /// Runs `attache` over an input to its end.
  func run(_ arguments: [String] = [], input: [UInt8] = [], change: (inout Launch) -> Void = { _ in }) async throws -> Run {
    let program = try start(arguments, change: change)
    program.input.write(input)
    program.input.close()
    return await program.finished()
  }

  func run(_ arguments: [String] = [], input: String, change: (inout Launch) -> Void = { _ in }) async throws -> Run {
    try await run(arguments, input: Array(input.utf8), change: change)
  }

  /// Runs `attache` with a report, and reads it.
  func reported(_ arguments: [String] = [], input: String) async throws -> (run: Run, records: [ReportLine]) {
    let run = try await run(["--report", report] + arguments, input: input)
    return (run, try ReportLine.read(report))
  }

  /// Every file in the store except its index, by its path in the store.
  func storedFiles() throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: store)
    return names.filter { name in
      guard !name.hasPrefix(".index/") else { return false }
      var isFolder: ObjCBool = false
      return unsafe FileManager.default.fileExists(atPath: "\(store)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
    }
  }
}
