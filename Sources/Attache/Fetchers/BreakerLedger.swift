/// What happened to a circuit.
enum BreakerChange: Equatable, Sendable {
  /// The origin gets few requests from now on.
  ///
  /// - Parameters:
  ///   - failures: the number of requests in a row that have failed.
  ///   - duration: how long the origin has been failing.
  case opened(failures: Int, duration: Duration)
  /// The origin has answered.
  case closed
}

/// Decides which changes of circuits the user is told. Payloads name origins, so their number is not
/// limited. A pure value.
struct BreakerLedger: Sendable {
  /// The number of openings that are told in a minute. Each may be followed by a closing.
  static let openingsPerMinute = 16
  /// The number of told origins that are remembered. One that is never asked again never closes.
  private static let capacity = 256

  private var told: Set<String> = []
  private var minute: MonotonicInstant?
  private var count = 0

  /// Returns whether to tell the change. A closing is told if the opening was.
  mutating func tells(_ change: BreakerChange, of origin: String, at now: MonotonicInstant) -> Bool {
    guard case .opened = change else { return told.remove(origin) != nil }
    if minute.map({ $0.advanced(by: .seconds(60)) <= now }) ?? true { (minute, count) = (now, 0) }
    guard count < Self.openingsPerMinute else { return false }
    count += 1
    if told.count >= Self.capacity { told = [] }
    told.insert(origin)
    return true
  }
}
