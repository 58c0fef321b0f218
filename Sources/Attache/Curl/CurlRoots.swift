internal import CCurl
internal import Glibc
internal import Synchronization

/// The root certificates for all connections of a fetcher, parsed once, at the first handshake.
/// Safe to use from any thread.
///
/// libcurl parses them once for each of its multi handles, which takes 51 ms and 0.8 MB with the
/// system's roots.
final class CurlRoots: Sendable {
  let path: String
  private let roots = Mutex<OpenSSL.Roots?>(nil)

  /// - Parameter path: a PEM file; nil for the system's roots.
  /// - Returns: nil when `path` is nil and libcurl was not built to use a file with the system's
  ///   roots, or cannot read it.
  init?(_ path: String?) {
    guard let path = path ?? Self.systemRoots else { return nil }
    self.path = path
  }

  /// The file of root certificates that libcurl was built to use, or nil if there is none.
  private static let systemRoots: String? = {
    guard let information = unsafe curl_version_info(CURLVERSION_SEVENTH), let path = unsafe information.pointee.cainfo,
      unsafe access(path, R_OK) == 0
    else { return nil }
    return unsafe String(cString: path)
  }()

  /// Parses the roots now, so that the processes that are forked from this one need not.
  func load() {
    roots.withLock { $0 = $0 ?? OpenSSL.Roots(contentsOf: path) }
  }

  /// Makes a connection trust these roots and no others.
  ///
  /// - Parameter context: the `SSL_CTX` of the new connection.
  /// - Returns: false when the file cannot be read or has no certificates. The next handshake tries
  ///   again.
  func use(in context: UnsafeMutableRawPointer) -> Bool {
    let read = roots.withLock { roots in
      roots = roots ?? OpenSSL.Roots(contentsOf: path)
      return roots
    }
    return unsafe read?.use(in: context) ?? false
  }
}
