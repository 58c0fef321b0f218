/// What a process remembers of its fsyncs, so that a file that is used again and again costs one.
struct FsyncCache: Sendable {
  /// When files were synced, by the wall clock.
  private var files: [StoreName: Duration] = [:]
  /// Folders of holds that have links which are not synced, with how many were added since the
  /// start.
  private(set) var holds: [String: Int] = [:]
  private var added = 0

  /// Files that are remembered at most.
  static let maximumCount = 4_096
  /// How long a sync is trusted: within it no other process evicts the file, which might come back
  /// unsynced.
  private static let trust: Duration = .seconds(300)

  /// How many files are remembered.
  var count: Int { files.count }

  func isKnown(_ name: StoreName, now: Duration) -> Bool {
    files[name].map { .zero..<Self.trust ~= now - $0 } ?? false
  }

  /// Notes that a queue's folder of holds has a new link.
  mutating func noteHold(in folder: String) {
    added += 1
    holds[folder] = added
  }

  /// Notes what was synced.
  ///
  /// - Parameter synced: ``holds`` before; a folder that has got more links since is to be synced
  ///   again.
  mutating func note(_ names: some Collection<StoreName>, holds synced: [String: Int], now: Duration) {
    for (folder, count) in synced where holds[folder] == count { holds[folder] = nil }
    if files.count + names.count > Self.maximumCount { files = [:] }
    for name in names.prefix(Self.maximumCount) { files[name] = now }
  }

  /// Notes that another file may have the name from now on.
  mutating func forget(_ name: StoreName) {
    guard !files.isEmpty else { return }
    files[name] = nil
  }
}
