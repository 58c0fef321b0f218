internal import CCurl
internal import Glibc
internal import Synchronization

/// The root certificates for all connections of a fetcher, parsed at the first handshake and then
/// kept. Safe to use from any thread. Two threads with the first handshake at the same time both
/// parse them, and one result is kept.
///
/// libcurl parses them once for each of its multi handles, which takes 51 ms and 0.8 MB with the
/// system's roots.
final class CurlRoots: Sendable {
  let path: String
  private let roots = AtomicLazyReference<OpenSSL.Roots>()

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
    _ = read()
  }

  /// Makes a connection trust these roots and no others.
  ///
  /// - Parameter context: the `SSL_CTX` of the new connection.
  /// - Returns: false when the file cannot be read or has no certificates. The next handshake tries
  ///   again.
  func use(in context: UnsafeMutableRawPointer) -> Bool {
    unsafe read()?.use(in: context) ?? false
  }

  private func read() -> OpenSSL.Roots? {
    roots.load() ?? OpenSSL.Roots(contentsOf: path).map { roots.storeIfNil($0) }
  }
}
