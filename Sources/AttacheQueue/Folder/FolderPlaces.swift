/// Where the files of a payload are, within the queue's folder.
extension FolderEntry {
  /// How many payloads share a folder of ``readyFolder`` or ``resultFolder``: a call lists one at a time.
  static let bucket: Int64 = 1_000

  private var bucketName: String { String(id / Self.bucket) }

  /// Ready and due.
  private var readyFolder: String { isSuspect ? "suspects" : "ready/\(priority)/\(bucketName)" }
  /// While it is leased.
  var leased: String { "leased/\(text)" }
  private var resultFolder: String { "results/\(bucketName)" }
  /// The record, under a name that tells the result: there is one as soon as there is a result.
  var record: String { "\(resultFolder)/\(text)" }
  /// The line that leaves, for people to find.
  var line: String {
    "\(result?.isDead == true ? "dead" : "done")/\(id)\(name.isEmpty ? "" : "-" + name)"
  }
  /// The record, for people to find.
  var visibleRecord: String { line + ".record" }
  /// The original of what is no attachment and has an output all the same.
  var original: String { "originals/\(bucketName)/\(id)" }
  /// The paths of its holds, and what these are marked with.
  var holds: String { "holds/of/\(bucketName)/\(id)-\(fence)" }
  var keyFile: String? { key.map(Self.file(ofKey:)) }

  static func file(ofKey key: String) -> String { "keys/\(key.prefix(2))/\(key)" }

  /// Where it waits for a worker: by priority and number when it is due, and otherwise by the second in which it may become due.
  func waiting(_ now: FolderMoment) -> String {
    guard let slot = slot(now) else { return "\(readyFolder)/\(text)" }
    return "\(slot.place)/\(text)"
  }

  /// When it is due, if it is not.
  private func slot(_ now: FolderMoment) -> FolderSlot? {
    if let boot, let until { return boot == now.boot && until > now.uptime ? FolderSlot(boot: boot, second: until.second) : nil }
    guard let notBefore else { return nil }
    let moment = min(notBefore, expiresAt ?? notBefore)
    return moment > now.wall ? FolderSlot(boot: nil, second: moment.second) : nil
  }

  /// How long until it is due; nil when it is.
  func wait(_ now: FolderMoment) -> Int64? {
    guard slot(now) != nil else { return nil }
    if let until { return until - now.uptime }
    return notBefore.map { min($0, expiresAt ?? $0) - now.wall }
  }
}

/// One reading of the clocks, as the names of files tell it.
struct FolderMoment {
  /// In microseconds since 1970.
  let wall: Int64
  /// In microseconds.
  let uptime: Int64
  /// 16 hexadecimal digits.
  let boot: String
}

/// A folder of what becomes due within one second, of the wall clock or of the uptime of one start of the machine.
struct FolderSlot {
  var boot: String?
  var second: Int64

  var place: String { "later/\(boot ?? "wall"),\(second)" }

  init(boot: String?, second: Int64) {
    (self.boot, self.second) = (boot, second)
  }

  init?(_ name: String) {
    let parts = name.split(separator: ",")
    guard parts.count == 2, let second = Int64(parts[1]) else { return nil }
    self.init(boot: parts[0] == "wall" ? nil : String(parts[0]), second: second)
  }

  /// Whether something in it may be due.
  func isDue(_ now: FolderMoment) -> Bool {
    guard let boot else { return second <= now.wall.second }
    return boot != now.boot || second <= now.uptime.second
  }
}

extension Int64 {
  /// Of microseconds.
  fileprivate var second: Int64 { self >= 0 ? self / 1_000_000 : (self - 999_999) / 1_000_000 }
}
