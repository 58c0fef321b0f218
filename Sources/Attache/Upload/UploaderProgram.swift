internal import Glibc

/// The program of the process that uploads. ``FetcherParent`` starts it beside the fetchers.
package struct UploaderProgram: Sendable {
  /// The memory that the process may use beyond what it has at the start, in bytes.
  static let memory: UInt64 = 256 << 20
  /// The number of descriptors that the process may have: one for each file in flight, one for each
  /// connection, and some for itself.
  static let descriptors: UInt64 = 256

  let bucket: Bucket

  /// The files that it reads again and again.
  var files: [String] { [bucket.credentials] + (bucket.rootCertificates.map { [$0] } ?? CurlRoots(nil).map { [$0.path] } ?? []) }

  /// Serves the host on a thread of this process, for an engine without processes.
  ///
  /// - Parameter connection: stays the caller's.
  /// - Returns: false when the system refuses a descriptor or a thread.
  @Sendable
  package func startThread(_ connection: Int32) -> Bool {
    let own = fcntl(connection, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { return false }
    let isStarted = UploadServer.start(bucket, own, onEnd: { close(own) })
    if !isStarted { close(own) }
    return isStarted
  }
}
