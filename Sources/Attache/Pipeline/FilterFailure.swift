/// An error that ends a run early.
public enum FilterFailure: Error, Sendable, CustomStringConvertible {
  /// Reading the input, writing the output or opening the report failed, or the system could not
  /// provide what the start needs.
  case input(SystemError), output(SystemError), report(path: String, SystemError), start(SystemError)

  public var description: String {
    switch self {
    case .input(let error): "standard input: \(error)"
    case .output(let error): "standard output: \(error)"
    case .report(let path, let error): "the report \(path): \(error)"
    case .start(let error): "the system refuses: \(error)"
    }
  }
}
