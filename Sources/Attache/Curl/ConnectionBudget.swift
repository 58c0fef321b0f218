internal import Glibc

/// How many connections of one engine fit within RLIMIT_NOFILE. The engines of a process share this
/// limit. Beyond it, socket(2) fails with EMFILE.
///
/// A transfer uses a socket and, for a large file, a temporary file. The same number of connections
/// again may be kept for reuse.
package struct ConnectionBudget: Equatable, Sendable {
  /// The descriptors for everything else: the program's files, epoll, DNS, the store, the index, a
  /// queue. `reserveOfEngine` is the share of each further engine.
  private static let reserve = 128
  private static let reserveOfEngine = 16
  private static let perTransfer = 3

  /// The number of descriptors that RLIMIT_NOFILE allows.
  var descriptors: Int
  /// The number of engines in this process, at least 1.
  var engines = 1

  /// The maximum number of concurrent transfers of one engine.
  var transfers: Int {
    let engines = max(1, min(1 << 20, engines))
    return max(1, (descriptors - Self.reserve - (engines - 1) * Self.reserveOfEngine) / Self.perTransfer / engines)
  }

  /// Returns the number of descriptors that the only engine of a process needs for this many
  /// transfers.
  package static func descriptors(for transfers: Int) -> Int {
    reserve + perTransfer * transfers
  }

  /// The maximum number of connections that are kept when no transfer uses them.
  var idleConnections: Int { transfers }

  /// Returns the current budget of this process, from its soft limit. attache raises the soft limit
  /// to the hard limit when it starts.
  static func current(engines: Int) -> ConnectionBudget {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return ConnectionBudget(descriptors: isKnown ? Int(clamping: limit.rlim_cur) : 1_024, engines: engines)
  }
}
