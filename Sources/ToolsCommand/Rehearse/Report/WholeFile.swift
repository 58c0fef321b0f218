internal import Attache
internal import Foundation
internal import Glibc

/// A file, such as a report, that is written whole or not at all.
struct WholeFile {
  let path: String

  /// Checks whether the file can be written, as far as this can be known beforehand, so that a
  /// rehearsal does not run for a report that cannot be saved.
  func check() throws(ReportFailure) {
    guard unsafe access(folder, W_OK | X_OK) == 0 || isSpecial else { throw failure(lastError) }
    var isFolder: ObjCBool = false
    if unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { throw failure("it is a folder") }
  }

  /// Writes a temporary file beside the path and renames it. Special files, such as a pipe, and
  /// links, such as /dev/stdout, are written to directly.
  func write(_ text: String) throws(ReportFailure) {
    let target = isSpecial ? path : "\(path).\(getpid()).tmp"
    do throws(ReportFailure) {
      try put(text, at: target)
      if !isSpecial, unsafe rename(target, path) != 0 { throw failure(lastError) }
    } catch {
      if !isSpecial { _ = unsafe unlink(target) }
      throw error
    }
  }

  private func put(_ text: String, at target: String) throws(ReportFailure) {
    // Append, so that earlier text on standard output is kept.
    let isStream = target.hasPrefix("/dev/") || target.hasPrefix("/proc/")
    let descriptor = unsafe open(target, O_WRONLY | O_CREAT | (isStream ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure(lastError) }
    defer { close(descriptor) }
    do throws(SystemError) {
      try WholeWrite.write(Array(text.utf8), to: descriptor)
    } catch {
      throw failure(SystemError.text(error.number))
    }
  }

  private var folder: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether the path exists and is not a regular file. A link is followed, not replaced.
  private var isSpecial: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  private var lastError: String { SystemError.text(errno) }

  private func failure(_ problem: String) -> ReportFailure {
    ReportFailure(path: path, problem: problem)
  }
}
