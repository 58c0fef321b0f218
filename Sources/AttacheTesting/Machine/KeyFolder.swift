internal import Attache
internal import Glibc

/// A folder that keeps the keys and the root certificate of servers from one start to the next, so that
/// clients need not be told new ones.
///
///     let keys = try KeyFolder("keys")
///     let server = try await PushServer.startAPNs(tokens: ProviderTokenCheck(keptIn: keys), keys: keys)
///
/// Several servers may use it at the same time.
public struct KeyFolder: Sendable {
  /// The folder's path.
  public let path: String

  /// Makes the folder, for its owner alone, if it does not exist.
  ///
  /// - Throws: ``OriginError`` if the folder cannot be made.
  public init(_ path: String) throws(OriginError) {
    self.path = path
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .keys(path, reason: SystemError.text(errno)) }
  }

  /// Returns the path of a file in it.
  package subscript(name: String) -> String {
    "\(path)/\(name)"
  }

  /// Returns the key in a PEM file. If there is no such file, makes a key and the file, which only its
  /// owner can read.
  func key(in name: String, _ algorithm: CryptoKey.Algorithm) throws(OriginError) -> CryptoKey {
    let pem = try text(of: name, mode: 0o600) { () throws(OriginError) -> String in
      let key =
        switch algorithm {
        case .es256: CryptoKey.makeP256()
        case .rs256: CryptoKey.makeRSA()
        }
      guard let pem = key?.privatePEM else { throw .keys(self[name], reason: "libcrypto makes no key") }
      return pem
    }
    guard let key = CryptoKey(privatePEM: pem), key.algorithm == algorithm else {
      throw .keys(self[name], reason: "it is no private key for \(algorithm.rawValue); remove it, and a new one is made")
    }
    return key
  }

  /// Returns the text of a file. If there is no such file, makes it.
  func text(of name: String, mode: mode_t, _ make: () throws(OriginError) -> String) throws(OriginError) -> String {
    if let text = try existingText(of: name) { return text }
    let text = try make()
    try write(text, to: name, mode: mode, replaces: false)
    // Another server may have made it first.
    return try existingText(of: name) ?? text
  }

  /// Writes a file that only its owner can read. Replaces an existing one only if `isOwn` recognises its
  /// text.
  package func writeSecret(_ text: String, to name: String, replacing isOwn: (String) -> Bool) throws(OriginError) {
    if let existing = try existingText(of: name), !isOwn(existing) {
      throw .keys(self[name], reason: "it has the key of another account; name a folder without it")
    }
    try write(text, to: name, mode: 0o600, replaces: true)
  }

  private func existingText(of name: String) throws(OriginError) -> String? {
    let descriptor = unsafe open(self[name], O_RDONLY | O_CLOEXEC)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw failure(name) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw failure(name) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Writes a file under another name first, so that nobody reads a part of it.
  private func write(_ text: String, to name: String, mode: mode_t, replaces: Bool) throws(OriginError) {
    let temporary = self[".\(name).\(UInt64.random(in: 0...UInt64.max))"]
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw failure(name) }
    defer {
      close(descriptor)
      unsafe unlink(temporary)
    }
    do throws(SystemError) {
      try WholeWrite.write(Array(text.utf8), to: descriptor)
    } catch {
      throw .keys(self[name], reason: SystemError.text(error.number))
    }
    if replaces {
      guard unsafe rename(temporary, self[name]) == 0 else { throw failure(name) }
    } else {
      guard unsafe link(temporary, self[name]) == 0 || errno == EEXIST else { throw failure(name) }
    }
  }

  private func failure(_ name: String) -> OriginError {
    .keys(self[name], reason: SystemError.text(errno))
  }
}
