import Attache
import Foundation

/// The files of a store that the lines of a run name.
struct StoredMedia {
  let folder: String

  /// A file that a line names.
  struct File {
    var path: String
    var mime: String
    var size: Int
  }

  /// Returns a file of the store; nil if it is not there.
  func file(_ name: String) -> File? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 2, let type = StoreName(folder: parts[0], fileName: parts[1])?.type else { return nil }
    var status = stat()
    let path = "\(folder)/\(name)"
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return File(path: path, mime: type.mime, size: Int(status.st_size))
  }
}
