import ArgumentParser
import Attache
import AttacheArguments
import Foundation

/// A folder for the files of a run, which only this user may read.
struct WorkFolder {
  let path: String

  init() throws {
    var name = Array((NSTemporaryDirectory() + "/attache-preview-XXXXXX").utf8CString)
    guard let made = unsafe mkdtemp(&name) else { throw PreviewFailure.file(NSTemporaryDirectory(), errno) }
    path = unsafe String(cString: made)
  }

  func file(_ name: String) -> String { path + "/" + name }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

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
    exit("\(PrintableText.of(path)): \(unsafe String(cString: strerror(number)))", ExitStatus.inputOutput)
  }

  /// A file whose content is wrong.
  static func data(_ path: String, _ message: String) -> ExitCode {
    exit("\(PrintableText.of(path)): \(message)", ExitStatus.data)
  }
}
