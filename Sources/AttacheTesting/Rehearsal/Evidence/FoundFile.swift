internal import Attache

internal import FoundationEssentials

/// A file of the store that a check found.
package struct FoundFile: Sendable, Hashable {
  package var size: Int
  /// The hash in hexadecimal.
  package var sha256: String

  package init(size: Int, sha256: String) {
    self.size = size
    self.sha256 = sha256
  }

  /// Reads the file of a URL.
  ///
  /// - Returns: nil when it is not a file URL or the file does not exist.
  package init?(at url: String) {
    guard url.hasPrefix("file://"), let path = PercentEncoding.decode(url.dropFirst("file://".count)),
      let bytes = try? Data(contentsOf: URL(filePath: path))
    else { return nil }
    self.init(size: bytes.count, sha256: Self.hash(bytes))
  }

  static func hash(_ bytes: some DataProtocol) -> String {
    var hash = SHA256()
    // Without a copy, because a scenario may limit the memory of this process.
    for region in bytes.regions { unsafe region.withUnsafeBytes { unsafe hash.update($0) } }
    return hash.finish().hexadecimal()
  }
}

extension Evidence {
  /// Reads the files that the output names. Call it while the store still exists.
  package mutating func collectFiles() {
    for attachment in outputLines.flatMap({ GainedAttachment.read($0, at: place) ?? [] }) where files[attachment.url] == nil {
      files[attachment.url] = FoundFile(at: attachment.url)
    }
  }
}
