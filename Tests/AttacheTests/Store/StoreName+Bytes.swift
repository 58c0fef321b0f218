@testable import Attache

extension StoreName {
  /// The name of a file with a hash of these 32 bytes.
  init(digest bytes: [UInt8], type: MediaType) {
    self.init(digest: SHA256.Digest(words: unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: HashWords.self) }), type: type)
  }
}
