internal import Glibc

/// How many connections of one engine fit within RLIMIT_NOFILE, which the engines of a process
/// share. Beyond it, socket(2) fails with EMFILE.
///
/// A transfer takes a socket and, for a large file, a temporary file; as many connections again may
/// be kept for reuse.
struct ConnectionBudget: Equatable, Sendable {
  /// Descriptors for all else: the program's files, epoll, DNS, the store, the index, a queue; and
  /// what each further engine takes of these.
  private static let reserve = 128
  private static let reserveOfEngine = 16
  private static let perTransfer = 3

  /// What RLIMIT_NOFILE says.
  var descriptors: Int
  /// How many engines this process has, 1 or more.
  var engines = 1

  /// Transfers of one engine at a time.
  var transfers: Int {
    let engines = max(1, min(1 << 20, engines))
    return max(1, (descriptors - Self.reserve - (engines - 1) * Self.reserveOfEngine) / Self.perTransfer / engines)
  }

  /// The descriptors that an engine of its own process needs for so many transfers.
  static func descriptors(for transfers: Int) -> Int {
    reserve + perTransfer * transfers
  }

  /// Connections that are kept at the most when no transfer uses them.
  var idleConnections: Int { transfers }

  /// That of this process now; its soft limit, which attache raises to the hard one when it starts.
  static func current(engines: Int) -> ConnectionBudget {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return ConnectionBudget(descriptors: isKnown ? Int(clamping: limit.rlim_cur) : 1_024, engines: engines)
  }
}
