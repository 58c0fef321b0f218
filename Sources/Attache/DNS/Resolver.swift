/// What turns a host name into addresses; the real one asks name servers, tests script one. Used on
/// the loop only.
package protocol Resolver: AnyObject {
  /// Looks a name up. Requests for a name that is being looked up already wait for the same answer.
  ///
  /// - Parameters:
  ///   - name: a lower-case ASCII host name without a trailing dot, never an address.
  ///   - completion: called once, at once or later, with at least one address, unchecked, or with a
  ///     reason of the family `dns`.
  func resolve(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void)

  /// Gives up what is under way; no completion is called after it.
  func shutdown()
}

/// Why a name has no addresses.
package enum DNSFailure: Error, Hashable, Sendable {
  /// The name does not exist, or has no address.
  case notFound
  /// The name servers answered with an error, or not at all for want of a route.
  case failed
  /// No name server answered in time.
  case timeout
}
