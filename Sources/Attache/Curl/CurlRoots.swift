internal import CCurl
internal import Glibc
internal import Synchronization

/// The root certificates of all connections of a fetcher, parsed once, at the first handshake. Safe
/// from any thread.
///
/// libcurl parses them once for each of its multi handles, a matter of 51 ms and 0.8 MB with a
/// system's roots.
final class CurlRoots: Sendable {
  let path: String
  private let roots = Mutex<OpenSSL.Roots?>(nil)

  /// - Parameter path: a file in PEM form; nil for the system's roots.
  /// - Returns: nil where libcurl was built to find the system's roots otherwise than in a file.
  init?(_ path: String?) {
    guard let path = path ?? Self.systemRoots else { return nil }
    self.path = path
  }

  /// The file of root certificates that libcurl was built to use, if there is one.
  private static let systemRoots: String? = {
    guard let information = unsafe curl_version_info(CURLVERSION_SEVENTH), let path = unsafe information.pointee.cainfo,
      unsafe access(path, R_OK) == 0
    else { return nil }
    return unsafe String(cString: path)
  }()

  /// Parses the roots now, for the processes that are forked from this one.
  func load() {
    roots.withLock { $0 = $0 ?? OpenSSL.Roots(contentsOf: path) }
  }

  /// Has a connection trust these roots and no others.
  ///
  /// - Parameter context: the `SSL_CTX` of the connection that is to come.
  /// - Returns: false when the file cannot be read, or has no certificates; the next handshake
  ///   tries again.
  func use(in context: UnsafeMutableRawPointer) -> Bool {
    let read = roots.withLock { roots in
      roots = roots ?? OpenSSL.Roots(contentsOf: path)
      return roots
    }
    return unsafe read?.use(in: context) ?? false
  }
}
