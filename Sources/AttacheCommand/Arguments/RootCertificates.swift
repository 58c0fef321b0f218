import Glibc

/// A file of root certificates that is there and holds one: without this look, each payload would tell of a mistake of the command line.
struct RootCertificates {
  var path: String

  /// Why a file is of no use, with what to do.
  struct Mistake: Error, CustomStringConvertible {
    var description: String
  }

  init(_ path: String) throws(Mistake) {
    self.path = path
    guard let file = unsafe fopen(path, "re") else { throw Self.unreadable(path) }
    defer { unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while unsafe getline(&line, &capacity, file) > 0 {
      if let line = unsafe line, unsafe strncmp(line, "-----BEGIN ", 11) == 0, unsafe strstr(line, "CERTIFICATE-----") != nil { return }
    }
    guard unsafe ferror(file) == 0 else { throw Self.unreadable(path) }
    throw Mistake(description: "\(path) holds no certificate in PEM form; one begins with -----BEGIN CERTIFICATE-----")
  }

  private static func unreadable(_ path: String) -> Mistake {
    Mistake(description: "\(path): \(unsafe String(cString: strerror(errno)))")
  }
}
