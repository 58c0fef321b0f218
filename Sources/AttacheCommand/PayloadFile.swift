import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments
import Glibc

/// The file whose payloads a command reads, or standard input.
struct PayloadFile {
  /// The name that the user gave, or `<stdin>` for standard input.
  let name: String
  private let descriptor: Int32

  /// Opens the file.
  ///
  /// - Parameter path: nil and `-` select standard input.
  /// - Throws: the exit status of an input error, after the error is written to standard error.
  init(_ path: String?) throws {
    guard let path, path != "-" else {
      (name, descriptor) = ("<stdin>", STDIN_FILENO)
      return
    }
    name = path
    descriptor = try Self.orExit(path) { () throws(SystemError) in try PayloadInput.open(path) }
  }

  /// Calls `body` with each payload, in order.
  ///
  /// - Throws: the errors of `body` and those of ``init(_:)``.
  func forEach(_ body: (InputPayload) throws -> Void) throws {
    let input = try Self.orExit(name) { () throws(SystemError) in try PayloadInput(descriptor: descriptor) }
    while let payload = try Self.orExit(name, { () throws(SystemError) in try input.next() }) { try body(payload) }
  }

  private static func orExit<Value>(_ name: String, _ body: () throws(SystemError) -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      ErrorOutput.write("attache: \(PrintableText.of(name)): \(SystemError.text(error.number))\n")
      throw ExitCode(ExitStatus.inputOutput)
    }
  }
}
