internal import Glibc

/// Files that a process reads again by their paths after it is confined.
///
/// Landlock permits files, not paths. A file that takes the place of another, by a rename or because
/// a link leads elsewhere, is closed to the process. A new process may read it.
struct ReadableFiles: Sendable {
  private let paths: [String]

  /// Call it before the process is confined. A file that it may not read now is left out.
  init(_ paths: [String]) {
    self.paths = paths.filter { !Self.isClosed($0) }
  }

  /// Whether a file was replaced since, so that it is closed to this process.
  var areReplaced: Bool { paths.contains(where: Self.isClosed) }

  private static func isClosed(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file < 0 else {
      close(file)
      return false
    }
    return errno == EACCES
  }
}
