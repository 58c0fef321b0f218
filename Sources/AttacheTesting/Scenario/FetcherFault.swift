internal import Glibc

/// A fault of the process that sent a request, while it waits for the response. It affects only
/// descendants of this process. attache fetches in separate processes.
public enum FetcherFault: String, Sendable, CaseIterable {
  /// The process is killed with SIGKILL.
  case death = "fetcher-dies"
  /// The process crashes with SIGSEGV.
  case crash = "fetcher-crashes"
  /// The process is stopped with SIGSTOP.
  case hang = "fetcher-hangs"

  var signal: Int32 {
    switch self {
    case .death: SIGKILL
    case .crash: SIGSEGV
    case .hang: SIGSTOP
    }
  }
}
