/// How a queue connects to its servers.
package struct Connecting: Sendable {
  /// Finds the addresses of hosts.
  package var lookup: HostLookup
  /// How long a server may take to accept a connection at an address.
  package var limit: Duration
  /// How long a first lookup of a host may take. The resolver waits 5 s for a name server before it
  /// asks the next one (resolv.conf(5)).
  package var lookupLimit: Duration
  /// How long a reply may take before another connection asks the server whether it still works on
  /// the call.
  package var checkAfter: Duration

  package init(
    lookup: HostLookup? = nil, limit: Duration = .seconds(3), lookupLimit: Duration = .seconds(15), checkAfter: Duration = .seconds(10)
  ) {
    (self.lookup, self.limit, self.lookupLimit, self.checkAfter) = (lookup ?? .system, limit, lookupLimit, checkAfter)
  }
}
