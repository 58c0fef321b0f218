internal import Attache

extension ProcessEnd: CustomStringConvertible {
  package var description: String {
    switch self {
    case .status(let status): "status \(status)"
    case .signal(let signal): "signal \(signal)\(Self.names[signal].map { " (\($0))" } ?? "")"
    }
  }

  /// The signals that usually end a program unexpectedly.
  private static let names: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE",
    14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 31: "SIGSYS",
  ]
}
