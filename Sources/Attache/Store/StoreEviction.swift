/// Chooses which files the store removes: files that were not used for longer than the maximum age,
/// then the least recently used files until the rest is small enough.
struct StoreEviction: Sendable {
  /// The limits of the store.
  struct Limits: Hashable, Sendable {
    var maximumBytes: Int64
    var maximumAge: Duration

    /// How far below the maximum a prune goes, in bytes. With a sixteenth, the next prune is due
    /// only after as many bytes have been added.
    var slack: Int64 {
      maximumBytes / 16
    }
  }

  /// A file in the store.
  struct Entry: Hashable, Sendable {
    var name: StoreName
    /// In bytes.
    var size: Int64
    /// By the wall clock, since 1970.
    var lastUse: Duration
    /// Whether the file has another link, such as a queue's hold.
    var isHeld = false
  }

  var limits: Limits
  var now: Duration
  /// Whether other processes use the store. They may still need a file that was used recently.
  var isShared: Bool

  /// Returns whether any file must be removed.
  ///
  /// - Parameters:
  ///   - bytes: the size of all files together.
  ///   - oldest: the earliest last use among the files that are not held.
  func isNeeded(bytes: Int64, oldest: Duration?) -> Bool {
    bytes > limits.maximumBytes || oldest.map(isExpired) ?? false
  }

  /// Returns the files to remove, in the order of removal.
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

  /// How exactly the last use of a file is known. The time of a file is set only when it is older
  /// than this, which saves three system calls for each payload of a campaign.
  static let precision: Duration = .seconds(60)
  /// How long another process may need a file after its last use: its deadline, and the time in
  /// which its output is blocked.
  private static let flight: Duration = .seconds(600) + precision
}
