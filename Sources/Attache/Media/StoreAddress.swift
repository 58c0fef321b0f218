/// The addresses of the store's files under a base URL.
struct StoreAddress: Hashable, Sendable {
  /// The base URL, with its trailing slash.
  let base: String
  /// The base URL as the beginning of a JSON string.
  private let json: [UInt8]

  /// - Parameter base: the store's file URL, or an address that serves it. A missing trailing slash
  ///   is added.
  init(base: String) {
    self.base = base.utf8.last == UInt8(ascii: "/") ? base : base + "/"
    var writer = JSONWriter()
    writer.string(self.base)
    json = writer.bytes.dropLast()
  }

  /// Returns the URL of a file.
  func url(of file: StoredFile) -> String {
    base + file.relativePath
  }

  /// Returns the URL of a file as a JSON string.
  func json(of file: StoredFile) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + 80)
    bytes += json
    file.name.appendPath(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
    return bytes
  }

  /// Returns whether a URL has exactly the form of ``url(of:)``: the base, byte for byte, and a
  /// name that the store could give. The file need not exist.
  func matches(_ url: UntrustedText) -> Bool {
    guard url.utf8.starts(with: base.utf8) else { return false }
    let path = url.utf8.dropFirst(base.utf8.count)
    guard path.count <= 72, path.allSatisfy({ $0 < 0x80 }), path.dropFirst(2).first == UInt8(ascii: "/") else { return false }
    let (folder, file) = (String(Substring(path.prefix(2))), String(Substring(path.dropFirst(3))))
    return StoreName(folder: folder, fileName: file) != nil
  }
}
