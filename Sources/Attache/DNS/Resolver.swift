/// Resolves host names to addresses. The production implementation asks name servers; tests use a
/// scripted one. Used on the loop only.
package protocol Resolver: AnyObject {
  /// Looks up a name. Concurrent requests for one name share one answer.
  ///
  /// - Parameters:
  ///   - name: a lower-case ASCII host name without a trailing dot, never an address.
  ///   - completion: called once, immediately or later, with at least one unchecked address or with
  ///     a failure, which maps to a `dns` reason.
  func resolve(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void)

  /// Cancels all pending lookups. No completion is called afterwards.
  func shutdown()
}

/// Why a name has no addresses.
package enum DNSFailure: Error, Hashable, Sendable {
  /// The name does not exist, or has no address.
  case notFound
  /// The name servers returned an error, or could not be reached because there is no route.
  case failed
  /// This machine could not make a socket for the question, with this errno.
  case refused(Int32)
  /// No name server answered in time.
  case timeout
}
