internal import Attache

/// Reads the payloads of an earlier attache's queue, and writes them to a database.
struct EarlierImport {
  let folder: QueueFolder
  let database: SQLiteQueue
  /// Shows which workers died; nil when no worker existed.
  let workers: WorkerSlot?
  let clock: any QueueClock

  /// The limits of one transaction. The first payload is taken whatever its size.
  private static let (maximumPayloads, maximumBytes) = (1_000, 4 << 20)

  /// A file of a payload.
  private struct Found {
    var path: FileName
    var place: Folder
    var entry: EarlierEntry
  }

  private enum Folder: String, CaseIterable {
    case results, leased, suspects, ready, later
  }

  /// - Parameter numbers: the number of the next payload, and the fence of the last lease.
  func run(_ numbers: (next: Int64, fence: Int64)) throws(QueueError) {
    var found: [Found] = []
    for place in Folder.allCases { found += try files(of: place, in: FileName(place.rawValue)) }
    var last = max(numbers.next - 1, found.map(\.entry.id).max() ?? 0)
    var seen: Set<Int64> = []
    // An incomplete call could give two payloads the same number. The second one gets a new number.
    var ids = found.map { seen.insert($0.entry.id).inserted ? $0.entry.id : nil }
    for index in ids.indices where ids[index] == nil {
      last += 1
      ids[index] = last
    }
    let fence = max(numbers.fence, found.map(\.entry.fence).max() ?? 0)
    var batch: [ImportedPayload] = []
    var bytes = 0
    while let file = found.popLast(), let id = ids.popLast() {
      guard let payload = try payload(file, id: id ?? file.entry.id) else { continue }
      batch.append(payload)
      bytes += payload.size
      guard batch.count >= Self.maximumPayloads || bytes >= Self.maximumBytes else { continue }
      try database.add(batch)
      (batch, bytes) = ([], 0)
    }
    try database.add(batch)
    try database.endImport(lastID: last, lastFence: fence, freedHolds: try freedHolds())
  }

  private func files(of place: Folder, in path: FileName) throws(QueueError) -> [Found] {
    var found: [Found] = []
    for name in try folder.names(in: path) {
      let file = name.inside(String(decoding: path.bytes, as: UTF8.self))
      if let entry = EarlierEntry(name) {
        found.append(Found(path: file, place: place, entry: entry))
      } else {
        // A folder of payloads. Other files belong to no payload.
        found += try files(of: place, in: file)
      }
    }
    return found
  }

  // MARK: A payload

  private func payload(_ file: Found, id: Int64) throws(QueueError) -> ImportedPayload? {
    let entry = file.entry
    var payload = ImportedPayload(id: id, entry)
    switch file.place {
    case .results:
      guard let record = try folder.bytes(of: file.path), let result = entry.result else { return nil }
      let line = try folder.bytes(of: "\(entry.line)")
      let original = result.hasOriginal ? try folder.bytes(of: entry.original) : nil
      payload.line = original ?? line ?? []
      payload.state = .decided(
        ImportedResult(
          result: result, record: record, output: original == nil ? nil : line, path: entry.line, isTaken: line == nil,
          holds: result.hasHolds && !result.isRead ? try holds(in: entry.holds) : []))
    case .leased:
      guard let line = try folder.bytes(of: file.path) else { return nil }
      payload.line = line
      if let worker = entry.worker, let workers, workers.holder(worker) == .died {
        payload.deaths += 1
        payload.deathsAlone += entry.isAlone ? 1 : 0
      }
    case .suspects, .ready, .later:
      guard let line = try folder.bytes(of: file.path) else { return nil }
      payload.line = line
      payload.state = state(of: entry)
    }
    return payload
  }

  /// Whether a payload that no worker holds is due.
  private func state(of entry: EarlierEntry) -> ImportedPayload.State {
    if let boot = entry.boot, let until = entry.until { return boot == self.boot ? .delayed(until: until) : .ready }
    return entry.notBefore.map { .waiting(moment: min($0, entry.expiresAt ?? $0)) } ?? .ready
  }

  private var boot: String {
    let digits = SHA256.hash(Array(clock.boot.utf8)).hexadecimal()
    return String(digits.prefix(16))
  }

  // MARK: Holds

  private func holds(in name: FileName) throws(QueueError) -> [String] {
    (try folder.bytes(of: name) ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the holds that were released and not returned to a caller yet.
  private func freedHolds() throws(QueueError) -> [String] {
    var paths: [String] = []
    for name in try folder.names(in: "holds/freed") { paths += try holds(in: name.inside("holds/freed")) }
    return paths
  }
}

extension ImportedPayload {
  init(id: Int64, _ entry: EarlierEntry) {
    self.id = id
    priority = entry.priority
    notBefore = entry.notBefore
    expiresAt = entry.expiresAt
    enqueuedAt = entry.enqueuedAt
    key = entry.key
    name = DropName.kept(of: FileName(entry.name))
    (attempts, deaths, deathsAlone) = (entry.attempts, entry.deaths, entry.deathsAlone)
  }
}
