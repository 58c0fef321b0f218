internal import FoundationEssentials
internal import Glibc

/// A folder for one scenario or one server, removed with all its contents.
package final class StageFolder: Sendable {
  package let path: String

  package init() throws(StageError) {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/attache-scenario-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .system(call: "mkdtemp", errno: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    remove()
  }

  /// Returns the path of a file or folder in it.
  package subscript(name: String) -> String {
    "\(path)/\(name)"
  }

  func write(_ bytes: some DataProtocol, to name: String) throws(StageError) {
    guard (try? Data(bytes).write(to: URL(filePath: self[name]))) != nil else { throw .system(call: "write", errno: errno) }
  }

  /// Writes a key for the bucket that an origin plays.
  func writeCredentials() throws(StageError) {
    let text = "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n"
    try writeSecret(text, to: "credentials")
  }

  /// Writes a file that only its owner can read and write.
  package func writeSecret(_ text: String, to name: String) throws(StageError) {
    try write(Array(text.utf8), to: name)
    guard unsafe chmod(self[name], 0o600) == 0 else { throw .system(call: "chmod", errno: errno) }
  }

  /// Returns the bytes of a file; nil when it cannot be read.
  func bytes(_ name: String) -> [UInt8]? {
    Self.bytes(at: self[name])
  }

  static func bytes(at path: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(filePath: path))).map { [UInt8]($0) }
  }

  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
