/// The state that the store keeps between calls: which files are pinned, and when a prune is due.
struct StoreBookkeeping: Sendable {
  private var pins: [StoreName: Int] = [:]
  private var lastNumber: UInt64 = 0
  /// The bytes that were added since the last ``takeAdded()``.
  private var unreportedBytes: Int64 = 0
  /// The known size of the store in bytes: the size after the last prune plus what was added since.
  private(set) var bytes: Int64 = 0
  private var pruneAbove: Int64 = 0
  private var pruneAt: Duration = .zero
  var syncs = FsyncCache()

  /// - Parameter firstNumber: the number before that of the first temporary file.
  init(firstNumber: UInt64 = 0) {
    lastNumber = firstNumber
  }

  /// Returns the number of the next temporary file.
  mutating func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  mutating func pin(_ name: StoreName) {
    pins[name, default: 0] += 1
  }

  mutating func unpin(_ name: StoreName) {
    guard let count = pins[name] else { return }
    pins[name] = count > 1 ? count - 1 : nil
  }

  func isPinned(_ name: StoreName) -> Bool {
    pins[name] != nil
  }

  mutating func add(bytes added: Int64) {
    bytes += added
    unreportedBytes += added
  }

  /// Adds the bytes that other processes report.
  mutating func add(bytesOfFetchers added: Int64) {
    // An impossible number must not trap. The next prune corrects the count.
    let (sum, overflows) = bytes.addingReportingOverflow(added)
    if !overflows { bytes = min(sum, .max / 4) }
  }

  /// Returns the bytes that were added since the last call.
  mutating func takeAdded() -> Int64 {
    defer { unreportedBytes = 0 }
    return unreportedBytes
  }

  /// Whether a prune is due. True before the first prune.
  func isPruneDue(now: Duration) -> Bool {
    now >= pruneAt || bytes > pruneAbove
  }

  /// Records the end of a prune, and schedules the next one.
  ///
  /// - Parameters:
  ///   - kept: the bytes that remain, or nil when another process was pruning and this prune did
  ///     not run.
  ///   - bytesBefore: ``bytes`` at the start. The prune did not see bytes that were added since, so
  ///     they still count.
  ///   - oldest: the earliest last use among the remaining files that are not held.
  mutating func notePrune(kept: Int64?, bytesBefore: Int64, oldest: Duration?, now: Duration, limits: StoreEviction.Limits) {
    bytes = (kept ?? 0) + bytes - bytesBefore
    // A store full of files in use cannot shrink. The slack prevents a prune for each new file.
    pruneAbove = max(limits.maximumBytes, (kept ?? 0) + limits.slack)
    let expiry = (oldest ?? now) + limits.maximumAge
    pruneAt = kept == nil ? now + Self.shortestPause : min(max(expiry, now + Self.shortestPause), now + Self.longestPause)
  }

  /// The minimum pause between prunes by time. It applies when a prune left expired files because
  /// they were in use, and when a prune did not run.
  private static let shortestPause: Duration = .seconds(60)
  /// The maximum pause between prunes: only a prune detects what other processes add.
  private static let longestPause: Duration = .seconds(3600)
}

/// Remembers which files this process has synced, so that a file that is used repeatedly is synced
/// once.
struct FsyncCache: Sendable {
  /// When each file was synced, by the wall clock.
  private var files: [StoreName: Duration] = [:]
  /// The folders of holds that have unsynced links. The value is the count of all links, in any
  /// folder, up to the last link of this folder. It grows whenever the folder gains a link.
  private(set) var holds: [String: Int] = [:]
  private var added = 0

  /// The maximum number of files that are remembered.
  static let maximumCount = 4_096
  /// How long a sync is valid. Within this time no other process evicts the file, so it cannot be
  /// replaced by an unsynced one.
  private static let trust: Duration = .seconds(300)

  /// The number of files that are remembered.
  var count: Int { files.count }

  func isKnown(_ name: StoreName, now: Duration) -> Bool {
    files[name].map { .zero..<Self.trust ~= now - $0 } ?? false
  }

  /// Records a new link in a queue's folder of holds.
  mutating func noteHold(in folder: String) {
    added += 1
    holds[folder] = added
  }

  /// Records what was synced.
  ///
  /// - Parameter synced: ``holds`` before the sync. A folder that has gained links since then must
  ///   be synced again.
  mutating func note(_ names: some Collection<StoreName>, holds synced: [String: Int], now: Duration) {
    for (folder, count) in synced where holds[folder] == count { holds[folder] = nil }
    if files.count + names.count > Self.maximumCount { files = [:] }
    for name in names.prefix(Self.maximumCount) { files[name] = now }
  }

  /// Forgets a name, because it may refer to another file from now on.
  mutating func forget(_ name: StoreName) {
    guard !files.isEmpty else { return }
    files[name] = nil
  }
}
