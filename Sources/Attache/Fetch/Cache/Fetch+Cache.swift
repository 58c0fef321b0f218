/// The HTTP cache on a fetch's way: a hop is looked up before it is asked for, a stale answer is
/// asked about, and what was accepted is kept.
extension Fetch {
  /// Ends with a file of the store, which is pinned.
  func serve(_ entry: CacheEntry, as cache: MediaRecord.Cache) {
    if cache == .revalidated { keepEntry(of: entry.file, isRefreshed: true) } else { engine.cache?.noteUse(of: entry, for: url.text) }
    tracker.note { record in
      record.cache = cache
      record.type = entry.file.type
      record.bytes = entry.file.size
    }
    let waiters = tracker.end(with: entry.file)
    release()
    engine.keep(entry.file, of: self)
    engine.handOut(entry.file, to: waiters)
  }

  /// Takes what an accepted response says of its file into the index, or out of it.
  func keepEntry(of file: StoredFile, isRefreshed: Bool) {
    guard let cache = engine.cache else { return }
    let pixels = engine.configuration.limits.pixels
    switch state.reuse.conclusion(file, isRefreshed: isRefreshed, pixels: pixels, isPublic: state.isPublic) {
    case .none: break
    case .keep(let entry): cache.keep(entry, for: url.text)
    case .forget(let key): cache.forget(key, for: url.text)
    }
  }
}
