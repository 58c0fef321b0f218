/// How many of the origins that are remembered are asked, left alone, or tried.
public struct BreakerStates: Hashable, Sendable {
  /// They are asked.
  public var closed = 0
  /// They are left alone for a while.
  public var open = 0
  /// One exchange tries whether they are back.
  public var probing = 0

  public init() {}

  mutating func add(_ other: BreakerStates) {
    closed += other.closed
    open += other.open
    probing += other.probing
  }
}
