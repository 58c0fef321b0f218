/// The SHA-256 of a URL, of the root certificates in use, of the steps after the transfer, and of what the operator adds to the
/// request. The index finds rows by this key, so that URLs and header fields, which may contain secrets, are not written to disk.
struct IndexKey: Hashable, Sendable {
  /// The 32 bytes in memory order.
  let digest: HashWords

  /// - Parameters:
  ///   - url: the URL, as normalized by the URL gate.
  ///   - roots: the identity of the set of root certificates (``RootCertificates``), for an https
  ///     URL. A response that was verified with one set is not valid for another.
  ///   - steps: the identity of the steps that made the file, which ends with a line feed.
  ///   - additions: the header lines that are not the same in all runs (``RequestField``).
  init(_ url: String, roots: [UInt8] = [], steps: [UInt8] = [], additions: [String] = []) {
    var url = url
    var hash = SHA256()
    hash.update(steps)
    // No step, set of roots or URL begins like this or contains a line feed.
    for line in additions { hash.update(Array("field \(line)\n".utf8)) }
    hash.update(roots)
    url.withUTF8 { unsafe hash.update(UnsafeRawBufferPointer($0)) }
    digest = hash.finish().words
  }

  init(digest: HashWords) {
    self.digest = digest
  }

  /// The sort key of the `place` table. It is enough to find a row; the row itself shows whether it
  /// is the right one.
  var number: Int64 {
    Int64(bitPattern: digest[0])
  }
}
