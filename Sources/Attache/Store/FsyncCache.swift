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
