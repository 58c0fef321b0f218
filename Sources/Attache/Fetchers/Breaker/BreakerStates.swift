/// The number of remembered origins in each state of the circuit breaker.
public struct BreakerStates: Hashable, Sendable {
  /// Origins to which requests are sent.
  public var closed = 0
  /// Failing origins, to which a request is sent only now and then.
  public var open = 0
  /// Failing origins to which such a request was sent and has no result yet.
  public var probing = 0

  /// Creates the counts of no origins.
  public init() {}
}
