internal import Attache
internal import Glibc

/// A file with a token. It is read again when it changes.
struct TokenFile {
  private var token: String?
  /// The file's size, its modification time in seconds and nanoseconds, and its inode number.
  private var version: (Int64, Int64, Int64, UInt64)?

  /// The maximum size of the file in bytes.
  private static let limit = 16_384

  mutating func read(_ path: String) throws(HTTPSenderError) -> String {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw Self.failure(path) }
    let version = (Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), UInt64(status.st_ino))
    if let token, let known = self.version, known == version { return token }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure(path) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.limit + 1)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw Self.failure(path) }
    let text = bytes.prefix(count).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
    // RFC 6750, section 2.1: letters, digits and some signs. All are ASCII, and none is a space.
    guard count <= Self.limit, text.count == 1, let line = text.first, line.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .file(path: path, reason: "is not a token; a token is one line of ASCII without blanks, at most \(Self.limit) bytes")
    }
    let token = String(decoding: line, as: UTF8.self)
    (self.token, self.version) = (token, version)
    return token
  }

  private static func failure(_ path: String) -> HTTPSenderError {
    .file(path: path, reason: SystemError.text(errno))
  }
}
