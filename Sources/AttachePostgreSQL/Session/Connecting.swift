/// How a queue connects to its servers.
package struct Connecting: Sendable {
  /// Finds the addresses of hosts.
  package var lookup: HostLookup
  /// How long a lookup may take, and then how long a server may take to accept a connection at each
  /// address.
  package var limit: Duration

  package init(lookup: HostLookup? = nil, limit: Duration = .seconds(3)) {
    (self.lookup, self.limit) = (lookup ?? .system, limit)
  }
}
