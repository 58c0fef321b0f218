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
