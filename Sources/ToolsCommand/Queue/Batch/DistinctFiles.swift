import ArgumentParser
import Attache
import AttacheQueue
import Glibc
import Logging

/// Rejects one name for two files of a command, before it creates or changes any of them.
enum DistinctFiles {
  /// A file of the command: its description for messages, and its path.
  typealias File = (what: String, path: String)

  /// Checks the files. Pipes and devices may be used several times.
  ///
  /// - Throws: status 64, after both files are named in the log.
  static func check(_ files: [File], _ log: Logger) throws {
    var seen: [[UInt8]: String] = [:]
    for file in files {
      guard let place = place(of: file.path), let other = seen.updateValue(file.what, forKey: Array(place.utf8)) else { continue }
      log.error("\(file.what), \(PrintableText.of(file.path)), is also \(other); choose another file")
      throw ExitCode.validationFailure
    }
  }

  /// Checks that the queue is not in a folder whose files are moved or replaced.
  ///
  /// - Throws: status 64, after the queue is named in the log.
  static func check(_ queue: QueueLocation, outside folder: String, _ log: Logger) throws {
    guard let path = queue.address.path, let place = place(of: path), let folder = resolved(folder: folder) else { return }
    guard split(place).folder.utf8.elementsEqual(folder.utf8) else { return }
    log.error("the queue, \(PrintableText.of(path)), is in the folder of --folder; choose another folder")
    throw ExitCode.validationFailure
  }

  /// Returns the path with links resolved; nil for an existing file that is not regular, or when
  /// the folder does not exist.
  private static func place(of path: String) -> String? {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFREG ? resolved(path) : nil }
    let (folder, name) = split(path)
    return resolved(folder: folder).map { $0 + name }
  }

  /// Splits a path behind its last slash. A combining character may follow the slash, so that the two are one `Character`.
  private static func split(_ path: String) -> (folder: String, name: Substring) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path[...]) }
    let start = path.utf8.index(after: slash)
    return (String(path[..<start]), path[start...])
  }

  /// Returns the path of a folder with links resolved and a slash at its end; nil if there is none.
  private static func resolved(folder: String) -> String? {
    resolved(folder).map { $0.utf8.last == UInt8(ascii: "/") ? $0 : $0 + "/" }
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

extension QueueLocation {
  /// The files of the queue on this machine.
  var files: [DistinctFiles.File] {
    address.files.map { ("a file of the queue", $0) }
  }
}
