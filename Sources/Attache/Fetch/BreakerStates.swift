/// The number of remembered origins in each state of the circuit breaker.
public struct BreakerStates: Hashable, Sendable {
  /// Origins to which requests are sent.
  public var closed = 0
  /// Origins to which no requests are sent for a while.
  public var open = 0
  /// Origins that are being tested with a single exchange.
  public var probing = 0

  /// Creates the counts of no origins.
  public init() {}

  mutating func add(_ other: BreakerStates) {
    closed += other.closed
    open += other.open
    probing += other.probing
  }
}
