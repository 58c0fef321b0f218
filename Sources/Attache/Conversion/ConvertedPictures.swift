/// What became of the pictures that were converted, by the hash of their bytes, so that the same
/// bytes are never converted again with the same steps. On the loop only.
///
/// The results of this loop are in memory; those of other loops and of earlier runs are in the store's
/// index, if there is one.
final class ConvertedPictures {
  private let store: AttachmentStore
  private let cache: HTTPCache?
  private var files: [SHA256.Digest: StoredFile] = [:]
  private var order = Ring<SHA256.Digest>()

  /// The maximum number of results in memory; about 200 bytes each.
  private static let capacity = 4_096

  init(store: AttachmentStore, cache: HTTPCache?) {
    (self.store, self.cache) = (store, cache)
  }

  /// Returns the stored file, pinned once; nil if the picture has not been converted or the file is
  /// gone.
  func file(of source: SHA256.Digest) -> StoredFile? {
    if let file = files[source] {
      store.pin(file)
      if store.touch(file) { return file }
      store.unpin(file)
      files[source] = nil
      return nil
    }
    guard let file = cache?.converted(from: source) else { return nil }
    keep(file, of: source)
    return file
  }

  /// Remembers what was made of a picture.
  func note(_ file: StoredFile, of source: SHA256.Digest) {
    keep(file, of: source)
    cache?.keep(file, convertedFrom: source)
  }

  private func keep(_ file: StoredFile, of source: SHA256.Digest) {
    if files.updateValue(file, forKey: source) == nil { order.append(source) }
    while order.count > Self.capacity, let oldest = order.popFirst() { files[oldest] = nil }
  }
}
