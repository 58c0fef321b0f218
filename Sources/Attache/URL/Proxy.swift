/// The way out that an operator names (`--proxy`): an HTTP proxy, which looks names up by itself.
///
/// https goes through it with CONNECT, certificates still verified here, http with the whole URL in
/// the request line. The operator's word stands for its address: no gate judges it, and nothing but
/// it is connected to.
public struct Proxy: Hashable, Sendable {
  /// The host in lower case; an address in its canonical text, IPv6 without brackets.
  public let host: String
  public let port: UInt16
  /// The address, where the URL names one.
  public let address: IPAddress?

  /// Reads `http://HOST:PORT`.
  ///
  /// - Throws: ``ProxyError`` for anything else. A password is refused: the list of processes would
  ///   show it to everybody on the machine.
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

  /// The URL, as libcurl is given it.
  public var text: String {
    if case .v6 = address { "http://[\(host)]:\(port)" } else { "http://\(host):\(port)" }
  }

  /// Refuses a URL that names the proxy itself, as far as its text tells.
  func check(host: String, port: UInt16) throws(Refusal) {
    if host == self.host, port == self.port { throw Self.selfRefusal }
  }

  /// Refuses a URL that names the proxy itself by one of its addresses.
  func check(_ url: CheckedURL, at addresses: [IPAddress]) throws(Refusal) {
    if let address = url.address, url.port == port, addresses.contains(address) { throw Self.selfRefusal }
  }

  private static let selfRefusal = Refusal(.policyHost, "the URL names the proxy itself; nothing allows it")
}

/// Why a text is no proxy.
public enum ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
  case form
  case password

  public var description: String {
    switch self {
    case .form: "a proxy is written http://HOST:PORT"
    case .password: "a user name or a password would stand in the list of processes; let the proxy know attache by its address"
    }
  }
}
