internal import Attache
internal import FoundationEssentials
internal import Glibc

/// The Swift compiler of the user.
package struct SwiftCompiler: Sendable {
  /// What a program wrote, and how it ended.
  struct Run {
    var end: ProcessEnd
    var output: String

    var isSuccess: Bool { end == .status(0) }
  }

  /// The most of a compiler's messages that is kept, in bytes.
  private static let maximumOutput = 1 << 20

  let version: String

  /// - Throws: ``ExtensionBuildError/unavailable(_:)`` if there is no compiler in PATH.
  package init() throws(ExtensionBuildError) {
    let run = try Self.run(["swiftc", "--version"])
    guard run.isSuccess else { throw .unavailable("swiftc --version failed: \(run.output)") }
    version = run.output
  }

  /// Runs the compiler.
  func compile(_ arguments: [String]) throws(ExtensionBuildError) -> Run {
    try Self.run(["swiftc"] + arguments)
  }

  /// Runs a program, and waits for its end.
  static func run(_ words: [String]) throws(ExtensionBuildError) -> Run {
    let folder: StageFolder
    do throws(StageError) {
      folder = try StageFolder()
    } catch {
      throw .output("\(error)")
    }
    defer { folder.remove() }
    var launch = ProcessLaunch(words)
    launch.inheritsEnvironment = true
    // The compiler leaves an empty folder in TMPDIR.
    launch.environment["TMPDIR"] = folder.path
    launch.leadsGroup = false
    launch.input = .closed
    launch.output = .file(folder["output"])
    launch.errors = .file(folder["errors"])
    do throws(SystemError) {
      let end = try launch.start().0.wait()
      let bytes = ["output", "errors"].flatMap { folder.bytes($0) ?? [] }
      return Run(end: end, output: String(decoding: bytes.prefix(maximumOutput), as: UTF8.self))
    } catch {
      throw .unavailable(
        "\(error). attache builds extensions with the Swift compiler: install it from https://www.swift.org/install/linux/")
    }
  }
}
