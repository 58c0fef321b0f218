internal import Glibc

/// The queue for which a store holds attachments.
public enum HoldOwner: Hashable, Sendable {
  /// A queue with a file or folder on this machine, which exists as long as the queue does. The kind
  /// is the start of the queue's name, such as `sqlite`.
  case file(kind: String, path: String)
  /// A queue on a server. The name is for people. The identity belongs to this queue alone,
  /// whatever address leads to it. With nil, only a prune ever removes the holds that no result
  /// uses.
  case server(name: String, identity: String?)

  /// The text that the folder of holds contains about its owner: the absolute path, which means the
  /// same in each process, or the name.
  var text: String {
    switch self {
    case .server(let name, _): return name
    case .file(_, let path):
      if let real = unsafe realpath(path, nil) {
        defer { unsafe free(real) }
        return unsafe String(cString: real)
      }
      guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else { return path }
      defer { unsafe free(folder) }
      return unsafe String(cString: folder) + "/" + path
    }
  }
}
