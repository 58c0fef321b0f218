/// A URL that the URL gate has accepted. Only the gate makes one.
public struct CheckedURL: Hashable, Sendable {
  /// The schemes that attache fetches.
  public enum Scheme: String, Hashable, Sendable {
    /// Plain http, which is fetched only with `--allow-http`.
    case http
    /// HTTP over TLS.
    case https

    /// The port of a URL that gives none.
    var defaultPort: UInt16 {
      switch self {
      case .http: 80
      case .https: 443
      }
    }
  }

  /// The origin, shared by consecutively checked URLs of one origin.
  let place: CheckedOrigin
  /// The whole URL for libcurl: canonical up to the end of the host, without a default port or a
  /// fragment.
  public let text: String

  /// - Parameter target: the part after the authority; ASCII that begins with a slash.
  init(_ place: CheckedOrigin, target: String) {
    self.place = place
    text = place.prefix + target
  }

  /// The scheme.
  public var scheme: Scheme { place.scheme }
  /// The host in lower case, without a trailing dot. An address is in its canonical text, IPv6
  /// without brackets.
  public var host: String { place.host }
  /// The port to connect to.
  public var port: UInt16 { place.port }
  /// The address, if the URL gives one instead of a name. The address gate has accepted the address
  /// and its port.
  public var address: IPAddress? { place.address }
  /// Whether the port may be used at any address. If not, the host's addresses must be within
  /// `--allow-net`, which ``AddressGate/check(_:for:)`` checks.
  public var portIsAllowed: Bool { place.portIsAllowed }
  /// The key of the origin, always with a port, such as `https://cdn.example:443`.
  public var origin: String { place.key }
  /// The path and the query as they are sent, beginning with a slash. Bytes beyond ASCII are
  /// percent-encoded; the rest is unchanged.
  public var target: String { String(text.utf8.dropFirst(place.prefix.utf8.count)) ?? "/" }

  public static func == (one: CheckedURL, other: CheckedURL) -> Bool {
    one.text == other.text && one.portIsAllowed == other.portIsAllowed
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }
}

/// The part of a URL before its path, and the gate's decision about it.
final class CheckedOrigin: Sendable {
  let scheme: CheckedURL.Scheme
  let host: String
  let port: UInt16
  let address: IPAddress?
  let portIsAllowed: Bool
  /// The key of the origin, always with the port.
  let key: String
  /// The start of its URLs, without a default port.
  let prefix: String
  /// The scheme and the authority as written in the URL.
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

/// The rule for URLs that give access to whoever has them, for a while: presigned URLs of storage
/// services, signed URLs of CDNs, and URLs with a token.
enum SignedURL {
  /// Parameters whose presence is enough, in lower case. Their documentation:
  ///
  /// - AWS Signature Version 4 and 2, and CloudFront: `X-Amz-Signature`, `X-Amz-Security-Token`,
  ///   `Signature`, `Key-Pair-Id`
  /// - Google Cloud Storage and Cloud CDN: `X-Goog-Signature`, `GoogleAccessId`
  /// - Azure's shared access signatures: `sig`
  /// - Akamai: `hdnts`, `hdnea`, `__token__`, `__gda__`
  /// - Alibaba, Tencent and others: `OSSAccessKeyId`, `x-oss-signature`, `q-signature`, `auth_key`
  /// - OAuth 2.0 (RFC 6750, 2.3): `access_token`; Firebase Storage and others: `token`
  private static let parameters: Set<[UInt8]> = Set(
    [
      "x-amz-signature", "x-amz-security-token", "x-amz-credential", "signature", "key-pair-id", "x-goog-signature", "x-goog-credential",
      "googleaccessid", "sig", "hdnts", "hdnea", "__token__", "__gda__", "ossaccesskeyid", "x-oss-signature", "x-cos-security-token",
      "q-signature", "auth_key", "access_token", "token", "jwt", "auth", "authorization", "apikey", "api_key", "hmac",
    ].map { Array($0.utf8) })

  /// Returns whether a parameter of the query has a name of a signature or a token, in any case.
  ///
  /// - Parameter url: an absolute URL. Names may be percent-encoded.
  static func looksSigned(_ url: String) -> Bool {
    guard let mark = url.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }), url.utf8[mark] == UInt8(ascii: "?")
    else { return false }
    let query = url.utf8[mark...].dropFirst().prefix { $0 != UInt8(ascii: "#") }
    return query.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }).contains { parameter in
      parameters.contains(name(of: parameter.prefix { $0 != UInt8(ascii: "=") }))
    }
  }

  /// Returns a parameter's name, decoded and in lower case.
  private static func name(of text: Substring.UTF8View) -> [UInt8] {
    var (name, rest) = ([UInt8](), text[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalDigit, let low = rest.dropFirst().first?.hexadecimalDigit {
        rest = rest.dropFirst(2)
        name.append(UInt8(high << 4 | low).lowercasedASCII)
      } else {
        name.append(byte.lowercasedASCII)
      }
    }
    return name
  }
}
