internal import ArgumentParser
internal import Glibc

/// Whether a progress line is shown.
package enum ProgressChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, always, never

  /// `auto` is on when standard error is a terminal that can rewrite a line and the user has not
  /// asked for plain text.
  package var isOn: Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto: TerminalStyle.takesEscapes(STDERR_FILENO)
    }
  }
}
