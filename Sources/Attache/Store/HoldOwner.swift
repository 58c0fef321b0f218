internal import Glibc

/// The queue for which a store holds attachments. It has a file or folder on this machine, which exists
/// as long as the queue does.
public struct HoldOwner: Hashable, Sendable {
  /// The start of the queue's name, such as `sqlite`.
  let kind: String
  private let path: String

  public init(kind: String, path: String) {
    (self.kind, self.path) = (kind, path)
  }

  /// The path that the folder of holds contains. It is absolute, so that it means the same in each
  /// process.
  var absolutePath: String {
    if let real = unsafe realpath(path, nil) {
      defer { unsafe free(real) }
      return unsafe String(cString: real)
    }
    guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }
}
