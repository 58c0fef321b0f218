package import Attache
package import AttacheQueue
internal import Glibc
internal import Synchronization

/// A file of the device tokens that a push service calls invalid, one JSON object a line. A program can read
/// it to remove the tokens from a database.
///
///     {"token":"…","reason":"Unregistered","timestamp":1794000000000}
///
/// Each line is one write to the end of the file, so that several processes may share it. The file
/// is not synced: a token that a power failure removes is found again at its next push.
package final class InvalidTokenFile: Sendable {
  private let descriptor: Int32
  private let hasComplained = Atomic(false)

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

  /// Adds a token. Tells the user of the first failure.
  package func add(_ token: String, reason: String, timestamp: Int64? = nil, owner: (any SenderOwner)?) {
    do throws(SystemError) {
      try add(token, reason: reason, timestamp: timestamp)
    } catch {
      guard !hasComplained.exchange(true, ordering: .relaxed) else { return }
      owner?.notify("the file of --invalid-tokens cannot be written: \(error)")
    }
  }

  /// Adds a token.
  ///
  /// - Parameters:
  ///   - reason: the service's word.
  ///   - timestamp: when the service learned it, in milliseconds since 1970; nil if it does not say.
  /// - Throws: ``SystemError`` of `write`.
  package func add(_ token: String, reason: String, timestamp: Int64? = nil) throws(SystemError) {
    var json = JSONWriter()
    json.beginObject()
    json.key("token")
    json.string(token)
    json.key("reason")
    json.string(reason)
    if let timestamp {
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
