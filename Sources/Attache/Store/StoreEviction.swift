/// Which files the store gives up: those not used for longer than the largest age, then the least
/// recently used until the rest is small enough.
struct StoreEviction: Sendable {
  /// The bounds of the store.
  struct Limits: Hashable, Sendable {
    var maximumBytes: Int64
    var maximumAge: Duration

    /// How far below the maximum a prune goes, in bytes: with a sixteenth, it is due again only
    /// after as much has been added.
    var slack: Int64 {
      maximumBytes / 16
    }
  }

  /// A file in the store.
  struct Entry: Hashable, Sendable {
    var name: StoreName
    /// Bytes.
    var size: Int64
    /// Wall clock, since 1970.
    var lastUse: Duration
    /// Whether it has another link, as a queue's hold.
    var isHeld = false
  }

  var limits: Limits
  var now: Duration
  /// Whether other processes use the store: what was used shortly before may be in their flight.
  var isShared: Bool

  /// Whether there is anything to give up.
  ///
  /// - Parameters:
  ///   - bytes: what all files have together.
  ///   - oldest: the earliest last use among those that nobody holds.
  func isNeeded(bytes: Int64, oldest: Duration?) -> Bool {
    bytes > limits.maximumBytes || oldest.map(isExpired) ?? false
  }

  /// The files to give up, in the order to do it.
  func victims(among entries: [Entry], isPinned: (StoreName) -> Bool) -> [Entry] {
    var bytes = entries.reduce(0) { $0 + $1.size }
    let target = bytes > limits.maximumBytes ? limits.maximumBytes - limits.slack : limits.maximumBytes
    let candidates = entries.filter { !$0.isHeld && !isProtected($0) && !isPinned($0.name) }
    return candidates.sorted { $0.lastUse < $1.lastUse }.prefix { entry in
      guard isExpired(entry.lastUse) || bytes > target else { return false }
      bytes -= entry.size
      return true
    }
  }

  private func isExpired(_ lastUse: Duration) -> Bool {
    now - lastUse > limits.maximumAge
  }

  private func isProtected(_ entry: Entry) -> Bool {
    isShared && now - entry.lastUse <= Self.flight
  }

  /// How long a file that was used may be in another process's flight: twice the default deadline.
  private static let flight: Duration = .seconds(600)
}
