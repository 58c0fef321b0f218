/// Leases files to a worker: each is moved to `leased`, under a name that says until when, and read.
struct FolderLease {
  private let folder: QueueFolder
  private let request: ClaimRequest
  /// What the lease says.
  private let (boot, until, worker, fence): (String, Int64, Int64, Int64)
  private var room: Int
  private var moved: [(from: String, to: String)] = []
  private(set) var leases: [Lease] = []
  /// What the files are called in `leased`.
  private(set) var names: [LeaseToken: String] = [:]

  init(_ folder: QueueFolder, _ now: FolderMoment, fence: Int64, worker: Int64, _ request: ClaimRequest) {
    (self.folder, self.request) = (folder, request)
    (boot, until, self.worker, self.fence) = (now.boot, now.uptime + request.span.microseconds, worker, fence)
    room = request.maximumBytes
  }

  /// Takes what is due, the highest priority first and then by number.
  mutating func takeReady() throws(QueueError) {
    for priority in try folder.names(in: "ready").compactMap({ Int($0) }).sorted(by: >) {
      let shelf = "ready/\(priority)"
      for bucket in try folder.names(in: shelf).compactMap({ Int64($0) }).sorted() {
        guard try takeAll(of: "\(shelf)/\(bucket)", where: { $0.id < $1.id }) else { return }
        folder.removeFolder("\(shelf)/\(bucket)")
      }
      folder.removeFolder(shelf)
    }
  }

  /// Takes one suspect.
  mutating func takeSuspect() throws(QueueError) {
    _ = try takeAll(of: "suspects") { $0.priority == $1.priority ? $0.id < $1.id : $0.priority > $1.priority }
  }

  /// - Returns: false when there was no room for all.
  private mutating func takeAll(of place: String, where precedes: (FolderEntry, FolderEntry) -> Bool) throws(QueueError) -> Bool {
    let found = try folder.names(in: place).compactMap { name in FolderEntry(name).map { (path: "\(place)/\(name)", entry: $0) } }
    for (path, entry) in found.sorted(by: { precedes($0.entry, $1.entry) }) {
      guard try take(path, entry) else { return false }
    }
    return true
  }

  /// - Returns: false when there is no room for it.
  private mutating func take(_ path: String, _ waiting: FolderEntry) throws(QueueError) -> Bool {
    guard leases.count < (request.isAlone ? min(1, request.limit) : request.limit) else { return false }
    guard let size = folder.status(of: path)?.size else { return true }
    let isHandedOut = size <= Lease.maximumLine
    room -= isHandedOut ? size : 0
    guard room >= 0 || leases.isEmpty else { return false }
    var entry = waiting
    (entry.boot, entry.until, entry.worker, entry.fence, entry.isAlone) = (boot, until, worker, fence, request.isAlone)
    guard try folder.move(path, to: entry.leased) else { return true }
    moved.append((path, entry.leased))
    let line = isHandedOut ? try folder.bytes(of: entry.leased) : nil
    let token = LeaseToken(id: entry.id, fence: fence)
    names[token] = entry.text
    leases.append(
      Lease(
        token: token, line: line, attempt: entry.attempts + 1, expiresAt: entry.expiresAt.map(Duration.init(microseconds:)),
        deaths: entry.deaths, deathsAlone: entry.deathsAlone))
    return true
  }

  /// Gives back what was taken by a claim that fails.
  func putBack() {
    for (from, to) in moved { _ = try? folder.move(to, to: from) }
  }
}
