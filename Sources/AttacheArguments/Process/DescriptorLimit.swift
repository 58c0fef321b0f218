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
}
