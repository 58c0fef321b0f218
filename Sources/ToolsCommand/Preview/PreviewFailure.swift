import ArgumentParser
import Attache
import AttacheArguments
import Foundation

/// What ends a preview.
enum PreviewFailure {
  /// Writes a message to standard error.
  ///
  /// - Returns: the exit status to throw.
  static func exit(_ message: String, _ status: Int32) -> ExitCode {
    ErrorOutput.write("attache: \(message)\n")
    return ExitCode(status)
  }

  /// A file that cannot be read or written.
  static func file(_ path: String, _ number: Int32) -> ExitCode {
    exit("\(PrintableText.of(path)): \(SystemError.text(number))", ExitStatus.inputOutput)
  }

  /// A file whose content is wrong.
  static func data(_ path: String, _ message: String) -> ExitCode {
    exit("\(PrintableText.of(path)): \(message)", ExitStatus.data)
  }
}
