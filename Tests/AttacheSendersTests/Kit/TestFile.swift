import Glibc

/// A file in its own folder; both are removed with this object.
final class TestFile: Sendable {
  let path: String
  private let folder: String

  init() throws {
    let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(temporary)/attache-senders-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw TestFileError() }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    path = folder + "/file"
  }

  deinit {
    unsafe unlink(path)
    unsafe rmdir(folder)
  }

  /// The lines without their line feeds.
  func lines() throws -> [String] {
    guard let file = unsafe fopen(path, "re") else { throw TestFileError() }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The permissions.
  var mode: mode_t {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }
}

struct TestFileError: Error {}
