/// The rules of the flags for URLs and addresses.
public struct URLPolicy: Sendable {
  /// Whether plain http is fetched (`--allow-http`).
  public var allowHTTP: Bool
  /// The networks that may be reached on any port, although they are not public (`--allow-net`).
  public var allowedNets: [CIDR]
  /// The ports that may be used in addition to 80 and 443 (`--allow-port`).
  public var allowedPorts: [ClosedRange<UInt16>]
  /// The only hosts that may be fetched from; empty allows every public host (`--allow-host`).
  public var allowedHosts: [HostPattern]
  /// The hosts that are always refused, even if another rule allows them (`--deny-host`).
  public var deniedHosts: [HostPattern]
  /// The proxy for all requests (`--proxy`); nil connects directly.
  public var proxy: Proxy?

  /// Makes a policy. Without arguments, it is the policy of a filter without flags.
  public init(
    allowHTTP: Bool = false, allowedNets: [CIDR] = [], allowedPorts: [ClosedRange<UInt16>] = [], allowedHosts: [HostPattern] = [],
    deniedHosts: [HostPattern] = [], proxy: Proxy? = nil
  ) {
    self.allowHTTP = allowHTTP
    self.allowedNets = allowedNets
    self.allowedPorts = allowedPorts
    self.allowedHosts = allowedHosts
    self.deniedHosts = deniedHosts
    self.proxy = proxy
  }

  /// Returns whether the port may be used at any address.
  package func allows(port: UInt16) -> Bool {
    port == 80 || port == 443 || allowedPorts.contains { $0.contains(port) }
  }
}

extension URLPolicy {
  /// Parses a port or a range of ports: `8443` or `8000-8100`.
  ///
  /// - Returns: nil for any other text.
  package static func ports(_ text: String) -> ClosedRange<UInt16>? {
    let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt16(part) : nil
    }
    guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds[bounds.count - 1], first > 0, first <= last else {
      return nil
    }
    return first...last
  }
}
