internal import Glibc

/// Reads a file with secrets that a flag names.
package enum PrivateFile {
  /// The largest file, in bytes.
  private static let largest = 64 << 10

  /// Returns the bytes of a file that only its owner may read or write.
  ///
  /// - Parameter flag: the flag that names the file, for messages.
  /// - Throws: ``StartError`` when the file cannot be read, or others may read or write it.
  package static func read(_ path: String, of flag: String) throws(StartError) -> (bytes: [UInt8], identity: FileIdentity?) {
    // A pipe without a writer does not block.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw StartError("\(flag): cannot open \(path): \(SystemError.text(errno))") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largest else {
      throw StartError("\(flag): \(path) is not a file of at most 64 KB")
    }
    guard status.st_mode & 0o077 == 0 else { throw StartError("\(flag): others may read \(path); run chmod 600 \(path)") }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw StartError("\(flag): cannot read \(path): \(SystemError.text(errno))") }
    return (Array(bytes.prefix(count)), FileIdentity(descriptor: file))
  }
}
