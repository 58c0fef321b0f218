internal import Glibc

/// The root certificates that a run trusts.
package enum RootCertificates {
  /// Verifies that a file can be read and contains a certificate. Any other error in the file
  /// appears at the first handshake.
  ///
  /// - Parameter path: a PEM file; nil for the system's roots.
  /// - Returns: an identifier of these roots: the SHA-256 of the file's bytes, or one fixed name
  ///   for the system's roots.
  /// - Throws: ``StartError`` when the file cannot be read or has no certificate.
  @discardableResult
  package static func check(_ path: String?) throws(StartError) -> [UInt8] {
    guard let path else { return Array("the system's roots\n".utf8) }
    guard let file = unsafe fopen(path, "re") else { throw unreadable(path) }
    defer { unsafe fclose(file) }
    var (hash, hasCertificate) = (SHA256(), false)
    var line = [CChar](repeating: 0, count: 1024)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      unsafe line.withUnsafeBytes { unsafe hash.update(UnsafeRawBufferPointer(rebasing: $0.prefix(strlen(line)))) }
      if unsafe strncmp(line, "-----BEGIN ", 11) == 0, unsafe strstr(line, "CERTIFICATE-----") != nil { hasCertificate = true }
    }
    guard unsafe ferror(file) == 0 else { throw unreadable(path) }
    guard hasCertificate else {
      throw StartError("there is no certificate in \(path); one in PEM form begins with -----BEGIN CERTIFICATE-----")
    }
    return hash.finish().bytes
  }

  private static func unreadable(_ path: String) -> StartError {
    StartError("the root certificates in \(path) cannot be read: \(SystemError.text(errno))")
  }
}
