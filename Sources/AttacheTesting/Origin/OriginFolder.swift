internal import Glibc

/// The files of a folder. It serves nothing outside the folder: no `..`, no hidden names, no
/// symbolic links.
final class OriginFolder: Sendable {
  private let descriptor: CInt

  /// - Throws: `OriginError.folder` when the path is not a folder that can be opened.
  init(_ path: String) throws(OriginError) {
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw .folder(path, errno: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Returns the bytes of a file.
  /// - Parameter path: as in a URL, with a leading slash and percent-encoded.
  /// - Returns: nil when there is no such file or it must not be served.
  func read(_ path: String) -> [UInt8]? {
    guard let names = Self.names(path), let last = names.last else { return nil }
    var folder = dup(descriptor)
    for name in names.dropLast() where folder >= 0 {
      let next = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      close(folder)
      folder = next
    }
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    // With O_NONBLOCK, opening a named pipe does not wait for its writer.
    let file = unsafe openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return Self.contents(file)
  }

  /// Returns the names in a path; nil when one of them is not a plain name.
  private static func names(_ path: String) -> [String]? {
    var names: [String] = []
    for segment in path.split(separator: "/") {
      guard let name = PercentEncoding.decode(segment), !name.hasPrefix("."), !name.contains("/"), !name.contains("\0") else { return nil }
      names.append(name)
    }
    return names
  }

  private static func contents(_ file: CInt) -> [UInt8]? {
    // A read of zero bytes fails for a folder, and lseek fails for a pipe.
    var bytes: [UInt8] = []
    guard unsafe Glibc.read(file, &bytes, 0) == 0 else { return nil }
    let size = lseek(file, 0, SEEK_END)
    guard size >= 0, lseek(file, 0, SEEK_SET) == 0 else { return nil }
    bytes = [UInt8](repeating: 0, count: size)
    return unsafe Glibc.read(file, &bytes, size) == size ? bytes : nil
  }
}
