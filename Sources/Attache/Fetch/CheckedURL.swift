/// A URL that has passed the URL gate: only the gate makes one.
public struct CheckedURL: Hashable, Sendable {
  /// The schemes that are fetched.
  public enum Scheme: String, Hashable, Sendable {
    case http
    case https

    /// The port that a URL without one means.
    var defaultPort: UInt16 {
      switch self {
      case .http: 80
      case .https: 443
      }
    }
  }

  public let scheme: Scheme
  /// The host in lower case, without a trailing dot; an address in its canonical text, IPv6 without brackets.
  public let host: String
  /// The port to connect to.
  public let port: UInt16
  /// The address, where the URL names one instead of a host. It has passed the address gate, its port too.
  public let address: IPAddress?
  /// Whether the port may be used at any address. If not, the name's address must lie within `--allow-net`:
  /// ``AddressGate/check(_:for:)`` decides that.
  public let portIsAllowed: Bool
  /// The path and the query as they are sent: bytes beyond ASCII percent-encoded, the rest as it came; begins with a slash.
  public let target: String

  /// The key of the origin, always with a port, such as `https://cdn.example:443`.
  public let origin: String
  /// The whole URL, as libcurl is given it: canonical up to the host's end, without a default port, without a fragment.
  public let text: String

  init(scheme: Scheme, host: String, port: UInt16, address: IPAddress?, portIsAllowed: Bool, target: String) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.address = address
    self.portIsAllowed = portIsAllowed
    self.target = target
    let isV6 = if case .v6 = address { true } else { false }
    let place = scheme.rawValue + "://" + (isV6 ? "[" + host + "]" : host)
    origin = place + ":" + String(port)
    text = (port == scheme.defaultPort ? place : origin) + target
  }
}
