/// Counts silent pushes to each device, where the envelopes say device and time.
struct SilentRate {
  /// Apple's "two or three per hour": more than three are too many.
  ///
  /// Source: https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
  static let maximumPerHour = 3
  private static let hour = 3600.0

  /// By device, in order.
  private var times: [String: [Double]] = [:]

  /// Adds a silent push.
  ///
  /// - Parameter time: in seconds since 1970.
  /// - Returns: how many silent pushes the device got within the hour that ends with this one.
  mutating func add(_ token: String, at time: Double) -> Int {
    var known = times[token, default: []]
    // What is older than an hour before the newest cannot be too many with those to come, as long as they come in their order.
    if let newest = known.last { known.removeAll { $0 <= max(newest, time) - Self.hour && $0 < time - Self.hour } }
    known.insert(time, at: known.firstIndex { $0 > time } ?? known.endIndex)
    times[token] = known
    return known.count { $0 > time - Self.hour && $0 <= time }
  }
}
