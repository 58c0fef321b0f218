internal import Glibc

/// How many connections this process's limit of descriptors leaves room for: beyond it a socket is refused (EMFILE), whoever's fault that is.
///
/// A transfer takes a socket and, for a large file, a temporary file; as many connections again may be kept for reuse.
struct ConnectionBudget: Equatable, Sendable {
  /// Descriptors for all else: the program's files, epoll, DNS, the store, the index, a queue.
  private static let reserve = 128

  /// What RLIMIT_NOFILE says.
  var descriptors: Int

  /// Transfers at a time.
  var transfers: Int { max(1, (descriptors - Self.reserve) / 3) }

  /// Connections that are kept at the most when no transfer uses them.
  var idleConnections: Int { transfers }

  /// That of this process now; its soft limit, which attache raises to the hard one when it starts.
  static var current: ConnectionBudget {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return ConnectionBudget(descriptors: 1_024) }
    return ConnectionBudget(descriptors: Int(clamping: limit.rlim_cur))
  }
}
