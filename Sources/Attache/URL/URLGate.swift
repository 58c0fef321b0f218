/// Decides whether a URL of a payload or of a redirect may be fetched.
///
/// The gate parses bytes strictly. It refuses what libcurl and browsers parse differently, and
/// writes an accepted URL so that both parse it alike.
public struct URLGate: Sendable {
  /// The longest URL that the gate reads or accepts, in bytes.
  package static let maximumBytes = 8192
  /// The longest authority that the gate parses, in bytes: several times the longest name with its
  /// port.
  package static let maximumAuthorityBytes = 1024

  /// The gate for the addresses of the URLs, with the same allowed networks.
  public let addressGate: AddressGate
  private let policy: URLPolicy

  /// Makes the gate for a policy.
  public init(_ policy: URLPolicy) {
    self.policy = policy
    addressGate = AddressGate(allowedNets: policy.allowedNets)
  }

  /// Checks that a URL may be fetched, as far as the gate can know before the name lookup.
  ///
  /// If the URL contains an address, this also checks the address and its port.
  ///
  /// - Throws: a refusal of the family `policy`.
  public func check(_ url: String) throws(Refusal) -> CheckedURL {
    try check(url, after: nil)
  }

  /// - Parameter earlier: a URL that this gate has accepted. If `url` begins with the same scheme
  ///   and authority, only the rest is checked.
  package func check(_ url: String, after earlier: CheckedURL?) throws(Refusal) -> CheckedURL {
    // A file in the payload is mostly longer than a URL may be, and need not be copied. A prefix is copied
    // byte by byte.
    let isTooLong = url.utf8.count > Self.maximumBytes
    return try check(isTooLong ? Array(url.utf8.prefix(Self.maximumBytes + 1))[...] : Array(url.utf8)[...], after: earlier)
  }

  /// Does the same as ``check(_:after:)-(String,_)`` for arbitrary bytes.
  func check(_ bytes: ArraySlice<UInt8>, after earlier: CheckedURL? = nil) throws(Refusal) -> CheckedURL {
    do throws(Refusal) {
      return try judge(bytes, after: earlier?.place)
    } catch {
      throw error.remedy == nil ? error : complete(error, for: bytes)
    }
  }

  /// Combines a refusal with those that would follow if its flag were given.
  private func complete(_ refusal: Refusal, for bytes: ArraySlice<UInt8>) -> Refusal {
    var (opened, refusals) = (policy, [refusal])
    // Plain http, a host, an address and a port are each refused at most once.
    while let remedy = refusals.last?.remedy, refusals.count <= 4 {
      remedy.open(&opened)
      do throws(Refusal) {
        _ = try URLGate(opened).judge(bytes)
        break
      } catch {
        refusals.append(error)
      }
    }
    return Refusal.joined(refusals) ?? refusal
  }

  private func judge(_ bytes: ArraySlice<UInt8>, after earlier: CheckedOrigin? = nil) throws(Refusal) -> CheckedURL {
    guard bytes.count <= Self.maximumBytes else { throw Self.refusal(of: bytes) ?? Self.tooLong }
    if bytes.contains(where: \.isControlASCII) {
      throw Self.refusal(of: bytes) ?? Refusal(.policyURL, "the URL contains a control character")
    }
    let parts = URLReference(bytes)
    let written = bytes[..<(parts.authority?.endIndex ?? bytes.startIndex)]
    let place: CheckedOrigin
    let target: String
    if let earlier, !written.isEmpty, earlier.written == written, !bytes.contains(UInt8(ascii: "\\")) {
      (place, target) = (earlier, try Self.target(of: parts))
    } else {
      (place, target) = try judgeAll(of: parts, bytes, written)
    }
    let url = CheckedURL(place, target: target)
    guard url.text.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
    return url
  }

  private func judgeAll(of parts: URLReference, _ bytes: ArraySlice<UInt8>, _ written: ArraySlice<UInt8>)
    throws(Refusal) -> (CheckedOrigin, target: String)
  {
    let scheme = try scheme(of: parts, in: bytes)
    if bytes.contains(UInt8(ascii: "\\")) {
      throw Refusal(.policyURL, "the URL contains a backslash, which browsers read as a slash and other software does not")
    }
    let authority = try Self.authority(of: parts, bytes)
    let target = try Self.target(of: parts)
    let port = authority.port ?? scheme.defaultPort
    try policy.proxy?.check(host: authority.host.text, port: port)
    try checkHost(authority.host)
    let portIsAllowed = try portVerdict(port, at: authority.host)
    var address: IPAddress?
    if case .address(let literal) = authority.host { address = literal }
    let origin = CheckedOrigin(
      scheme: scheme, host: authority.host.text, port: port, address: address, portIsAllowed: portIsAllowed,
      written: Array(written)[...])
    return (origin, target)
  }

  /// Returns the refusal of a port that no flag allows.
  package static func portRefusal(_ port: UInt16) -> Refusal {
    Refusal(.policyPort, "port \(port) is not allowed (80 and 443 are)", remedy: .port(port))
  }

  /// Returns the refusal of a text that stands for a URL but is none.
  private static func refusal(of bytes: ArraySlice<UInt8>) -> Refusal? {
    URLMistake(bytes)?.refusal(of: bytes)
  }

  static let tooLong = Refusal(.policyURL, "the URL is longer than \(maximumBytes) bytes")
}

// Checks that depend on the policy.
extension URLGate {
  private func scheme(of parts: URLReference, in bytes: ArraySlice<UInt8>) throws(Refusal) -> CheckedURL.Scheme {
    guard let written = parts.scheme else {
      if let refusal = Self.refusal(of: bytes) { throw refusal }
      let start = bytes.prefix { !":/?#".utf8.contains($0) }
      if start.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") || $0 >= 0x80 }) {
        throw Refusal(.policyURL, "'\(URLDetail.short.text(of: bytes))' is not an absolute URL")
      }
      throw Refusal(.policyScheme, "'\(URLDetail.short.text(of: bytes))' has no scheme; write https://…")
    }
    let name = String(decoding: written.map(\.lowercasedASCII), as: UTF8.self)
    switch CheckedURL.Scheme(rawValue: name) {
    case .https: return .https
    case .http where policy.allowHTTP: return .http
    case .http: throw Refusal(.policyScheme, "plain http is not fetched", remedy: .plainHTTP)
    case nil: throw Self.refusal(of: bytes) ?? Refusal(.policyScheme, "the scheme '\(Refusal.quote(written))' is not fetched; https is")
    }
  }

  private func checkHost(_ host: Authority.Host) throws(Refusal) {
    let text = host.text
    if policy.deniedHosts.contains(where: { $0.matches(text) }) {
      throw Refusal(.policyHost, "the host '\(text)' is denied by --deny-host")
    }
    let isNamed = policy.allowedHosts.contains { $0.matches(text) }
    switch host {
    case .address(let address): try addressGate.check(address)
    case .name(let name): try Self.checkSpecial(name, isNamed: isNamed)
    }
    guard isNamed || policy.allowedHosts.isEmpty else {
      throw Refusal(.policyHost, "the host '\(text)' does not match --allow-host", remedy: .host(text))
    }
  }

  /// Refuses names that lead to the local machine or network, unless a host pattern names them. The
  /// address gate still checks the addresses.
  private static func checkSpecial(_ name: HostName, isNamed: Bool) throws(Refusal) {
    guard let row = SpecialName.of(name), !(isNamed && row.mayBeAllowed) else { return }
    let flag = row.mayBeAllowed ? "--allow-host \(name.text), with --allow-net for its address, would allow it" : "no flag allows it"
    throw Refusal(.policyHost, "the host '\(name.text)' is \(row.name) (\(row.source)); \(flag)")
  }

  /// Returns whether the port may be used at any address. Any other port may still be used inside
  /// `--allow-net`. For a name, this is known only after the name lookup, and so never with a
  /// proxy.
  ///
  /// - Throws: a refusal `policy.port`.
  private func portVerdict(_ port: UInt16, at host: Authority.Host) throws(Refusal) -> Bool {
    if policy.allows(port: port) { return true }
    switch host {
    case .address(let address) where addressGate.allowsAnyPort(address): return true
    case .name where !policy.allowedNets.isEmpty && policy.proxy == nil: return false
    case .address, .name: throw Self.portRefusal(port)
    }
  }
}

// Checks that depend only on the text.
extension URLGate {
  private static func authority(of parts: URLReference, _ bytes: ArraySlice<UInt8>) throws(Refusal) -> Authority {
    guard let authority = parts.authority else {
      throw refusal(of: bytes) ?? Refusal(.policyURL, "two slashes must follow the scheme")
    }
    guard !authority.isEmpty else {
      // libcurl and browsers skip further slashes and read what follows as the host.
      if parts.path.dropFirst().contains(UInt8(ascii: "/")) {
        throw refusal(of: bytes) ?? Refusal(.policyURL, "more than two slashes follow the scheme")
      }
      throw Refusal(.policyHost, "the URL has no host")
    }
    guard authority.count <= maximumAuthorityBytes else {
      throw Refusal(.policyURL, "the host is longer than \(maximumAuthorityBytes) bytes")
    }
    // The scheme is written twice, as in https://https://cdn.example/.
    if authority.first.map({ $0 | 0x20 }) == UInt8(ascii: "h"), let refusal = refusal(of: bytes) { throw refusal }
    return try Authority(authority)
  }

  /// Returns the path and query to send. Percent-encodes UTF-8 beyond ASCII, as browsers do, and
  /// changes nothing else.
  ///
  /// Refuses an escape of NUL, and a percent sign that begins no escape: servers truncate the URL
  /// or guess there. Refuses brackets and braces in the path, where RFC 3986, 3.3 forbids them and
  /// the curl tool reads them as a range. Refuses U+FFFD, which replaces text that was invalid.
  private static func target(of parts: URLReference) throws(Refusal) -> String {
    var bytes = parts.path.first == UInt8(ascii: "/") ? Array(parts.path) : Array("/".utf8)
    if let query = parts.query { bytes += "?".utf8 + query }
    for part in [bytes[...], parts.fragment ?? []] {
      if part.contains(UInt8(ascii: " ")) { throw Refusal(.policyURL, "the URL contains a space; write %20") }
      if !part.isASCII, String(validating: part, as: UTF8.self) == nil { throw Refusal(.policyURL, "the URL is not UTF-8") }
    }
    if let mark = parts.path.first(where: { isBracketOrBrace($0) }) {
      let escape = String(mark, radix: 16, uppercase: true)
      throw Refusal(.policyURL, "the path contains '\(Refusal.quote([mark]))'; write %\(escape)")
    }
    try checkEscapes(bytes)
    guard !bytes[...].isASCII else { return String(decoding: bytes, as: UTF8.self) }
    if holdsReplacement(bytes) { throw Refusal(.policyURL, "the URL contains U+FFFD, which stands for text that is not Unicode") }
    return bytes.reduce(into: "") { text, byte in
      if byte < 0x80 {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  private static func isBracketOrBrace(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"): true
    default: false
    }
  }

  /// Returns whether UTF-8 contains U+FFFD.
  private static func holdsReplacement(_ bytes: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0] == 0xEF && bytes[$0...].starts(with: [0xEF, 0xBF, 0xBD]) }
  }

  private static func checkEscapes(_ bytes: [UInt8]) throws(Refusal) {
    for index in bytes.indices where bytes[index] == UInt8(ascii: "%") {
      let digits = bytes[(index + 1)...].prefix(2)
      guard digits.count == 2, digits.allSatisfy({ $0.hexadecimalDigit != nil }) else {
        throw Refusal(.policyURL, "the URL contains a percent sign without an escape; write %25")
      }
      if digits.elementsEqual("00".utf8) { throw Refusal(.policyURL, "the URL contains %00") }
    }
  }
}
