import Foundation

/// The content of a URL of the scheme `data` (RFC 2397), of which Foundation for Linux makes no file.
enum DataURL {
  /// Writes the content to a temporary file.
  ///
  /// - Returns: the file; nil for another URL.
  static func file(_ url: URL) -> URL? {
    guard url.scheme?.lowercased() == "data" else { return nil }
    let parts = url.absoluteString.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let text = String(parts[1]).removingPercentEncoding else { return nil }
    guard let content = parts[0].lowercased().hasSuffix(";base64") ? Data(base64Encoded: text) : Data(text.utf8) else { return nil }
    let file = TemporaryFile.new
    return (try? content.write(to: file)).map { file }
  }
}

enum TemporaryFile {
  /// The URL of a file that does not exist, named as Apple's Foundation names downloads.
  static var new: URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
  }
}
