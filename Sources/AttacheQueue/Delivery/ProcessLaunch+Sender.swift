internal import Attache
internal import Glibc

extension ProcessLaunch {
  /// A program that a sender runs.
  ///
  /// - Parameters:
  ///   - words: the program, which is searched for in PATH, and its arguments.
  ///   - variables: additional environment variables.
  static func sender(_ words: [String], variables: [String: String] = [:], output: Stream) -> ProcessLaunch {
    var launch = ProcessLaunch(words)
    (launch.environment, launch.inheritsEnvironment) = (variables, true)
    (launch.output, launch.errors) = (output, .inherited)
    return launch
  }
}

extension ProcessEnd {
  /// A description for messages.
  var text: String {
    switch self {
    case .status(let status): "ended with status \(status)"
    case .signal(let signal):
      "was killed by signal \(signal)" + (unsafe strsignal(signal).map { unsafe " (\(String(cString: $0)))" } ?? "")
    }
  }
}
