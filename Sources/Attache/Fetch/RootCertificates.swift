internal import Glibc

/// A file of root certificates in PEM form.
package enum RootCertificates {
  /// Proves that a file can be read and has a certificate in it; what else may be wrong with it shows at the first handshake.
  package static func check(_ path: String) throws(StartError) {
    guard let file = unsafe fopen(path, "re") else { throw unreadable(path) }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      if unsafe strncmp(line, "-----BEGIN ", 11) == 0, unsafe strstr(line, "CERTIFICATE-----") != nil { return }
    }
    guard unsafe ferror(file) == 0 else { throw unreadable(path) }
    throw StartError("there is no certificate in \(path); one in PEM form begins with -----BEGIN CERTIFICATE-----")
  }

  private static func unreadable(_ path: String) -> StartError {
    StartError("the root certificates in \(path) cannot be read: \(unsafe String(cString: strerror(errno)))")
  }
}
