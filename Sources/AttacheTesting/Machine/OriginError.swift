internal import Attache
internal import Glibc

/// An error that prevents an origin from starting.
public enum OriginError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The folder to serve cannot be opened.
  case folder(String, errno: CInt)
  /// The origin cannot listen on the port.
  case port(Int, reason: String)
  /// The certificate cannot be made, or its root cannot be written.
  case certificate(reason: String)
  /// A file of a ``KeyFolder`` cannot be read or made.
  case keys(String, reason: String)

  /// A sentence for the user.
  public var description: String {
    switch self {
    case .folder(let path, let number): "cannot open the folder \(path): \(SystemError.text(number))"
    case .port(let port, let reason): "cannot listen on port \(port): \(reason)"
    case .certificate(let reason): "cannot make a certificate: \(reason)"
    case .keys(let path, let reason): "cannot use \(path): \(reason)"
    }
  }
}
