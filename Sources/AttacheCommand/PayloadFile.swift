import ArgumentParser
import Attache
import AttacheArguments
import Glibc

/// The file whose payloads a command reads, or standard input.
struct PayloadFile {
  /// As the user gave it; `<stdin>` for standard input.
  let name: String
  private let descriptor: Int32

  /// - Parameter path: nil and `-` are standard input.
  /// - Throws: the status of an input error, once standard error has said what went wrong.
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
  /// - Throws: what `body` throws, or as ``init(_:)``.
  func forEach(_ body: (InputPayload) throws -> Void) throws {
    let input = try Self.orExit(name) { () throws(SystemError) in try PayloadInput(descriptor: descriptor) }
    while let payload = try Self.orExit(name, { () throws(SystemError) in try input.next() }) { try body(payload) }
  }

  private static func orExit<Value>(_ name: String, _ body: () throws(SystemError) -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      ErrorOutput.write("attache: \(PrintableText.of(name)): \(unsafe String(cString: strerror(error.number)))\n")
      throw ExitCode(ExitStatus.inputOutput)
    }
  }
}
