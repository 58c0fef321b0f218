internal import Attache
internal import Glibc

/// A wait of the calling thread.
enum Pause {
  static func wait(_ span: Duration) {
    let nanoseconds = span.nanoseconds
    var rest = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    var left = timespec()
    while unsafe nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
  }
}

extension Duration {
  /// The duration in seconds or milliseconds, for messages.
  var text: String {
    let milliseconds = nanoseconds / 1_000_000
    return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
