/// What the store remembers between its calls: which files are in use, and when a prune is due.
struct StoreBookkeeping: Sendable {
  private var pins: [StoreName: Int] = [:]
  private var lastNumber: UInt64 = 0
  /// Bytes that were added since they were last taken.
  private var untold: Int64 = 0
  /// Bytes in the store as far as is known: those of the last prune and those that this process has
  /// added since.
  private(set) var bytes: Int64 = 0
  private var pruneAbove: Int64 = 0
  private var pruneAt: Duration = .zero
  var syncs = FsyncCache()

  /// - Parameter firstNumber: of the temporary files.
  init(firstNumber: UInt64 = 0) {
    lastNumber = firstNumber
  }

  /// A number for the next temporary file.
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
    untold += added
  }

  /// Notes what other processes say that they have added.
  mutating func add(bytesOfGuests added: Int64) {
    // A number that cannot be is no reason to end; the next prune counts.
    let (sum, overflows) = bytes.addingReportingOverflow(added)
    if !overflows { bytes = min(sum, .max / 4) }
  }

  /// The bytes that were added since this was last asked.
  mutating func takeAdded() -> Int64 {
    defer { untold = 0 }
    return untold
  }

  /// Whether a prune would find something to do; true before the first.
  func isPruneDue(now: Duration) -> Bool {
    now >= pruneAt || bytes > pruneAbove
  }

  /// Notes the end of a prune, and from it when the next is due.
  ///
  /// - Parameters:
  ///   - kept: the bytes that it left, or nil when it did not run because another process was
  ///     pruning.
  ///   - bytesBefore: ``bytes`` at its start: what was added since was not seen, and still counts.
  ///   - oldest: the earliest last use among the files that it left and nobody holds.
  mutating func notePrune(kept: Int64?, bytesBefore: Int64, oldest: Duration?, now: Duration, limits: StoreEviction.Limits) {
    bytes = (kept ?? 0) + bytes - bytesBefore
    // A store full of files in use cannot shrink: the slack keeps it from being read through again
    // for each new file.
    pruneAbove = max(limits.maximumBytes, (kept ?? 0) + limits.slack)
    let expiry = (oldest ?? now) + limits.maximumAge
    pruneAt = kept == nil ? now + Self.shortestPause : min(max(expiry, now + Self.shortestPause), now + Self.longestPause)
  }

  /// After a prune that left expired files, because they were in use.
  private static let shortestPause: Duration = .seconds(60)
  /// What other processes add to the store is seen by a prune only.
  private static let longestPause: Duration = .seconds(3600)
}
