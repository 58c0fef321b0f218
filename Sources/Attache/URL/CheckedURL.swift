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

  /// Where it leads to, shared by the URLs of one origin that were checked one after another.
  let place: CheckedOrigin
  /// The whole URL, as libcurl is given it: canonical up to the host's end, without a default port,
  /// without a fragment.
  public let text: String

  /// - Parameter target: what follows the authority: ASCII, and begins with a slash.
  init(_ place: CheckedOrigin, target: String) {
    self.place = place
    text = place.prefix + target
  }

  public var scheme: Scheme { place.scheme }
  /// The host in lower case, without a trailing dot; an address in its canonical text, IPv6 without
  /// brackets.
  public var host: String { place.host }
  /// The port to connect to.
  public var port: UInt16 { place.port }
  /// The address, where the URL names one instead of a host. It has passed the address gate, its
  /// port too.
  public var address: IPAddress? { place.address }
  /// Whether the port may be used at any address. If not, the name's address must lie within
  /// `--allow-net`: ``AddressGate/check(_:for:)`` decides that.
  public var portIsAllowed: Bool { place.portIsAllowed }
  /// The key of the origin, always with a port, such as `https://cdn.example:443`.
  public var origin: String { place.key }
  /// The path and the query as they are sent: bytes beyond ASCII percent-encoded, the rest as it
  /// came; begins with a slash.
  public var target: String { String(text.utf8.dropFirst(place.prefix.utf8.count)) ?? "/" }

  public static func == (one: CheckedURL, other: CheckedURL) -> Bool {
    one.text == other.text && one.portIsAllowed == other.portIsAllowed
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }
}

/// What a URL says before its path, and what the gate says of that.
final class CheckedOrigin: Sendable {
  let scheme: CheckedURL.Scheme
  let host: String
  let port: UInt16
  let address: IPAddress?
  let portIsAllowed: Bool
  /// With the port in any case.
  let key: String
  /// What its URLs begin with: without a default port.
  let prefix: String
  /// The scheme and the authority as they stood in the URL.
  let written: ArraySlice<UInt8>

  init(
    scheme: CheckedURL.Scheme, host: String, port: UInt16, address: IPAddress?, portIsAllowed: Bool, written: ArraySlice<UInt8>
  ) {
    (self.scheme, self.host, self.port, self.address) = (scheme, host, port, address)
    (self.portIsAllowed, self.written) = (portIsAllowed, written)
    let isV6 = if case .v6 = address { true } else { false }
    let place = scheme.rawValue + "://" + (isV6 ? "[" + host + "]" : host)
    key = place + ":" + String(port)
    prefix = port == scheme.defaultPort ? place : key
  }
}
