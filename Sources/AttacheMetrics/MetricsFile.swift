package import Attache
internal import Glibc

/// A file that always contains complete metrics: each version replaces the previous one by a
/// rename.
package struct MetricsFile: Sendable {
  package let path: String

  package init(_ path: String) {
    self.path = path
  }

  /// Writes a version. It may be lost in a power failure.
  ///
  /// - Throws: ``SystemError``. The previous version stays.
  package func write(_ text: String) throws(SystemError) {
    // Collectors select files by extension, so they ignore `.tmp`. The process number makes the
    // name unique among workers.
    let aside = "\(path).\(getpid()).tmp"
    let file = unsafe open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw SystemError(call: "open", number: errno) }
    do throws(SystemError) {
      defer { close(file) }
      try WholeWrite.write(Array(text.utf8), to: file)
    } catch {
      unsafe unlink(aside)
      throw error
    }
    guard unsafe rename(aside, path) == 0 else {
      let error = SystemError(call: "rename", number: errno)
      unsafe unlink(aside)
      throw error
    }
  }
}
