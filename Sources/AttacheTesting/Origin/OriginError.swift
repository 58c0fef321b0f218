internal import Glibc

/// Why an origin does not start.
public enum OriginError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The folder to serve cannot be opened.
  case folder(String, errno: CInt)
  /// The port cannot be listened on.
  case port(Int, reason: String)
  /// The certificate could not be made or its root not be written.
  case certificate(reason: String)

  /// One sentence for the user.
  public var description: String {
    switch self {
    case .folder(let path, let number): "cannot open the folder \(path): \(unsafe String(cString: strerror(number)))"
    case .port(let port, let reason): "cannot listen on port \(port): \(reason)"
    case .certificate(let reason): "cannot make a certificate: \(reason)"
    }
  }
}
