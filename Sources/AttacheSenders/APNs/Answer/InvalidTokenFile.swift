package import Attache
internal import Glibc

/// A file of the device tokens that Apple calls invalid, one JSON object a line. A program can read
/// it to remove the tokens from a database.
///
///     {"token":"…","reason":"Unregistered","timestamp":1794000000000}
///
/// Each line is one write to the end of the file, so that several processes may share it. The file
/// is not synced: a token that a power failure removes is found again at its next push.
package final class InvalidTokenFile: Sendable {
  private let descriptor: Int32

  /// Opens the file. Creates it with mode 0600 if it does not exist.
  ///
  /// - Throws: ``SystemError`` of `open`.
  package init(_ path: String) throws(SystemError) {
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError(call: "open", number: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Adds a token.
  ///
  /// - Throws: ``SystemError`` of `write`.
  package func add(_ token: String, _ reply: APNsReply) throws(SystemError) {
    var json = JSONWriter()
    json.beginObject()
    json.key("token")
    json.string(token)
    json.key("reason")
    json.string(reply.reason ?? String(reply.status))
    if let timestamp = reply.timestamp {
      json.key("timestamp")
      json.integer(timestamp)
    }
    json.endObject()
    let line = json.bytes + [UInt8(ascii: "\n")]
    while true {
      let written = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      if written == line.count { return }
      guard written < 0, errno == EINTR else { throw SystemError(call: "write", number: written < 0 ? errno : ENOSPC) }
    }
  }
}
