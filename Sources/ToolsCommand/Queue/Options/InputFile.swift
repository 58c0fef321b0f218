import ArgumentParser
import Attache
import AttacheInspection
import AttacheArguments
import Glibc
import Logging

/// The file whose lines a command reads, or standard input.
struct InputFile {
  /// The name for messages.
  let name: String
  let descriptor: Int32

  /// Opens the file.
  ///
  /// - Parameter path: nil and `-` select standard input.
  /// - Throws: the exit status of an input error, after the error is logged.
  init(_ path: String?, _ log: Logger) throws {
    guard let path, path != "-" else {
      (name, descriptor) = ("<stdin>", STDIN_FILENO)
      return
    }
    name = PrintableText.of(path)
    do throws(SystemError) {
      descriptor = try PayloadInput.open(path)
      // A folder can be opened. It is refused here, before anything is created for it.
      if Self.isFolder(descriptor) { throw SystemError(call: "read", number: EISDIR) }
    } catch {
      Self.complain(error, PrintableText.of(path), log)
      throw ExitCode(ExitStatus.inputOutput)
    }
  }

  /// Logs why the input cannot be read any further.
  func complain(_ error: SystemError, _ log: Logger) {
    Self.complain(error, name, log)
  }

  private static func isFolder(_ descriptor: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func complain(_ error: SystemError, _ name: String, _ log: Logger) {
    log.error("\(name): \(SystemError.text(error.number))")
  }
}
