internal import Attache
internal import Glibc

/// The limit on the number of file descriptors of this process.
package enum DescriptorLimit {
  /// Raises the soft limit to the hard limit: each connection needs a descriptor, and `--jobs` may
  /// be thousands.
  package static func raise() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// The warning that the limit leaves no room for media, after ``raise()``; nil if it leaves some.
  ///
  /// - Parameter jobs: the number of payloads that are processed at once (`--jobs`).
  static func warning(jobs: Int) -> String? {
    var limit = rlimit()
    let least = ConnectionBudget.descriptors(for: 1)
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(least) else { return nil }
    return "the limit on open files (ulimit -n) is \(limit.rlim_cur), so that media may not be fetched; attache needs \(least), and "
      + "\(ConnectionBudget.descriptors(for: min(jobs, 1 << 20))) for --jobs \(jobs)"
  }

  /// Ends the process with a message when the limit is below what its libraries need. They would end
  /// it without one.
  ///
  /// - Parameter least: the number of descriptors.
  package static func require(_ least: UInt) {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < least else { return }
    ErrorOutput.write("attache: the limit on open files (ulimit -n) is \(limit.rlim_cur), and this command needs \(least); raise it\n")
    exit(ExitStatus.software)
  }
}
