internal import Glibc

/// What happens to the process that sent a request, while its response is awaited; only to one that
/// this process has started, or that such a one has. attache fetches in processes of their own.
public enum FetcherFault: String, Sendable, CaseIterable {
  /// It is killed, by SIGKILL.
  case death = "fetcher-dies"
  /// It crashes, by SIGSEGV.
  case crash = "fetcher-crashes"
  /// It is stopped, by SIGSTOP.
  case hang = "fetcher-hangs"

  var signal: Int32 {
    switch self {
    case .death: SIGKILL
    case .crash: SIGSEGV
    case .hang: SIGSTOP
    }
  }
}
