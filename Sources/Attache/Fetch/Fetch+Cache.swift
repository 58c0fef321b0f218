/// The use of the HTTP cache by a fetch: look up a hop before requesting it, revalidate a stale
/// response, and store an accepted one.
extension Fetch {
  /// Ends the fetch with a file of the store. The file is already pinned.
  func serve(_ entry: CacheEntry, as cache: MediaRecord.Cache) {
    if cache == .revalidated { keepEntry(of: entry.file, isRefreshed: true) } else { engine.cache?.noteUse(of: entry) }
    tracker.note { record in
      record.cache = cache
      record.type = entry.file.type
      record.bytes = entry.file.size
    }
    let waiter = tracker.end(with: entry.file)
    release()
    engine.keep(entry.file, of: self)
    engine.handOut(entry.file, to: waiter)
  }

  /// Updates or removes the index entry according to an accepted response.
  func keepEntry(of file: StoredFile, isRefreshed: Bool) {
    guard let cache = engine.cache else { return }
    let pixels = engine.configuration.limits.pixels
    switch state.reuse.conclusion(file, isRefreshed: isRefreshed, pixels: pixels, isPublic: state.isPublic) {
    case .none: break
    case .keep(let entry): cache.keep(entry)
    case .forget(let key): cache.forget(key)
    }
  }
}
