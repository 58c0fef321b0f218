/// What the flags say about URLs and addresses.
public struct URLPolicy: Sendable {
  /// Whether plain http is fetched (`--allow-http`).
  public var allowHTTP: Bool
  /// Networks that may be reached although they are not public, on any port (`--allow-net`).
  public var allowedNets: [CIDR]
  /// Ports that may be used beside 80 and 443 (`--allow-port`).
  public var allowedPorts: [ClosedRange<UInt16>]
  /// The only hosts that may be named; empty for every public one (`--allow-host`).
  public var allowedHosts: [HostPattern]
  /// Hosts that may not be named, whatever is allowed (`--deny-host`).
  public var deniedHosts: [HostPattern]
  /// What everything goes through (`--proxy`); nil is the straight way.
  public var proxy: Proxy?

  /// Makes a policy; without arguments it is the one of a filter without flags.
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

  /// Whether the port may be used at any address.
  func allows(port: UInt16) -> Bool {
    port == 80 || port == 443 || allowedPorts.contains { $0.contains(port) }
  }
}
