/// The SHA-256 of a URL, and of the root certificates that vouch for it: what the index finds a row
/// by, so that no URL, which may hold a secret, is written down.
struct IndexKey: Hashable, Sendable {
  /// The 32 bytes, as they lie in memory.
  let digest: SIMD4<UInt64>

  /// - Parameters:
  ///   - url: in the one form that the URL gate gives it.
  ///   - roots: what tells the set of root certificates from any other (``RootCertificates``), for
  ///     a URL of https: what came under one set says nothing
  ///     under another. Rows of earlier versions, whose keys have none, are found for no URL of https.
  init(_ url: String, roots: [UInt8] = []) {
    var url = url
    var hash = SHA256()
    hash.update(roots)
    url.withUTF8 { unsafe hash.update(UnsafeRawBufferPointer($0)) }
    digest = hash.finish().words
  }

  init(digest: SIMD4<UInt64>) {
    self.digest = digest
  }

  /// What the table of places is sorted by: enough to find a row, which tells whether it is the
  /// right one.
  var number: Int64 {
    Int64(bitPattern: digest[0])
  }
}
