/// An HTTP proxy that the operator sets (`--proxy`). The proxy looks up names itself.
///
/// https uses CONNECT, and attache still verifies certificates. http sends the whole URL in the
/// request line. The gates do not check the proxy's address, because the operator chose it. attache
/// connects only to the proxy.
public struct Proxy: Hashable, Sendable {
  /// The host in lower case. An address is in its canonical text, IPv6 without brackets.
  public let host: String
  /// The port.
  public let port: UInt16
  /// The address, if the URL gives one instead of a name.
  public let address: IPAddress?

  /// Parses `http://HOST:PORT`.
  ///
  /// - Throws: ``ProxyError`` for any other text. A password is refused, because the process list
  ///   would show it to every user of the machine.
  public init(_ url: String) throws(ProxyError) {
    var rest = Array(url.utf8)[...]
    guard rest.prefix(7).map(\.lowercasedASCII) == Array("http://".utf8) else { throw .form }
    rest = rest.dropFirst(7)
    if rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
    guard !rest.contains(where: { "/?#\\".utf8.contains($0) || $0.isControlASCII }), !rest.isEmpty else { throw .form }
    let authority: Authority
    do throws(Refusal) {
      authority = try Authority(rest)
    } catch {
      throw error.reason == .policyUserinfo ? .password : .form
    }
    guard let port = authority.port else { throw .form }
    self.port = port
    host = authority.host.text
    if case .address(let address) = authority.host { self.address = address } else { address = nil }
  }

  /// The URL for libcurl.
  public var text: String {
    if case .v6 = address { "http://[\(host)]:\(port)" } else { "http://\(host):\(port)" }
  }

  /// Refuses a URL that names the proxy itself, as far as its text shows.
  func check(host: String, port: UInt16) throws(Refusal) {
    if host == self.host, port == self.port { throw Self.selfRefusal }
  }

  /// Refuses a URL that names the proxy itself by one of its addresses.
  func check(_ url: CheckedURL, at addresses: [IPAddress]) throws(Refusal) {
    if let address = url.address, url.port == port, addresses.contains(address) { throw Self.selfRefusal }
  }

  private static let selfRefusal = Refusal(.policyHost, "the URL names the proxy itself; no flag allows it")
}

/// The reason why a text is not a proxy.
public enum ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text does not have the form `http://HOST:PORT`.
  case form
  /// The text has a user name or a password.
  case password

  public var description: String {
    switch self {
    case .form: "write a proxy as http://HOST:PORT"
    case .password: "a user name or a password would be visible in the list of processes; have the proxy recognise attache by its address"
    }
  }
}
