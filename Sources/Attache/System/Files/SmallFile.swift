internal import Glibc

/// Reads files that the user names and that must be small.
package enum SmallFile {
  /// Returns the bytes of a file; nil if it has more than `maximum` bytes.
  ///
  /// - Throws: ``SystemError`` if the file cannot be read.
  package static func read(_ path: String, maximum: Int) throws(SystemError) -> [UInt8]? {
    guard let file = unsafe fopen(path, "re") else { throw SystemError(call: "fopen", number: errno) }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: maximum + 1)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe fread($0.baseAddress, 1, $0.count, file) }
    guard unsafe ferror(file) == 0 else { throw SystemError(call: "fread", number: errno) }
    return count <= maximum ? Array(bytes[..<count]) : nil
  }
}
