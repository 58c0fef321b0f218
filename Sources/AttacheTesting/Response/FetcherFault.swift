internal import Glibc

/// A fault of the process that sent a request, or of its converter, while it waits for the response.
/// It affects only descendants of this process. attache fetches in separate processes, and each of
/// them converts pictures in a child process.
public enum FetcherFault: String, Sendable, CaseIterable {
  /// The process is killed with SIGKILL.
  case death = "fetcher-dies"
  /// The process crashes with SIGSEGV.
  case crash = "fetcher-crashes"
  /// The process is stopped with SIGSTOP.
  case hang = "fetcher-hangs"
  /// The converter of the process is killed with SIGKILL, as soon as there is one.
  case converterDeath = "converter-dies"

  var signal: Int32 {
    switch self {
    case .death, .converterDeath: SIGKILL
    case .crash: SIGSEGV
    case .hang: SIGSTOP
    }
  }
}
