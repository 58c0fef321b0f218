/// The HTTP cache on a fetch's road: a hop is looked up before it is asked for, a stale answer is asked about, and what was accepted is kept.
extension Fetch {
  /// Looks the hop at hand up; goes on from there.
  func lookUp(at desk: CacheDesk) {
    let step = step
    desk.lookUp(url, clearance, patience: budget / 4) { [self] answer in
      guard step == self.step, !isOver else {
        if case .fresh(let entry) = answer { engine.letGo(of: entry.file) }
        return
      }
      reuse.hear(answer)
      if case .fresh(let entry) = answer { takeFresh(entry) } else { approach() }
    }
  }

  /// Which gates the URL has passed: all where no name is looked up, or no address judged.
  private var clearance: CacheShelf.Clearance {
    if url.address != nil || engine.proxy != nil { return .full }
    return url.portIsAllowed ? .ofPublic : .withheld
  }

  /// Takes an answer that is fresh, now that the gates have passed the addresses of its host.
  func takeFenced(_ entry: CacheEntry) {
    confirm(entry.file) { [self] isThere in
      if isThere { return takeFresh(entry) }
      reuse.dropEntry()
      enter()
    }
  }

  /// Ends with a file of the store, which is pinned.
  private func takeFresh(_ entry: CacheEntry) {
    reuse.trust(until: entry.expiry)
    engine.desk?.noteUse(of: entry, for: url.text)
    end(with: entry.file, as: .hit)
  }

  /// Ends with the file that the origin says is still its answer; one that has gone meanwhile is asked for anew, without a condition.
  func takeUnchanged() {
    guard let entry = reuse.entry, !reuse.speaksOfAnother else { return askAnew() }
    confirm(entry.file) { [self] isThere in
      guard isThere else { return askAnew() }
      keepEntry(of: entry.file, isRefreshed: true)
      end(with: entry.file, as: .revalidated)
    }
  }

  private func askAnew() {
    reuse.dropEntry()
    begin()
  }

  private func confirm(_ file: StoredFile, _ goOn: @escaping @Sendable (Bool) -> Void) {
    let step = step
    engine.desk?.confirm(file) { [self] isThere in
      guard step == self.step, !isOver else {
        if isThere { engine.letGo(of: file) }
        return
      }
      goOn(isThere)
    }
  }

  private func end(with file: StoredFile, as cache: MediaRecord.Cache) {
    course.note { record in
      record.cache = cache
      record.type = file.type
      record.bytes = file.size
    }
    let waiters = course.end(with: file)
    if close() { engine.keep(file, of: self) }
    engine.handOut(file, to: waiters)
  }

  /// Takes what an accepted response says of its file into the index, or out of it.
  func keepEntry(of file: StoredFile, isRefreshed: Bool) {
    guard let desk = engine.desk else { return }
    let isPublic = url.address == nil && engine.proxy == nil && addresses.allSatisfy(AddressGate.isPublic)
    switch reuse.conclusion(file, isRefreshed: isRefreshed, pixels: engine.configuration.limits.pixels, isPublic: isPublic) {
    case .none: break
    case .keep(let entry): desk.keep(entry, for: url.text)
    case .forget(let key): desk.forget(key, for: url.text)
    }
  }
}
