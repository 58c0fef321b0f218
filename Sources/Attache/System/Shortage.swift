internal import Glibc

/// A resource that this machine, or a limit on this process, has too little of.
package enum Shortage: Hashable, Sendable, CustomStringConvertible {
  /// File descriptors of this process.
  case descriptors
  /// File descriptors of the whole system.
  case systemDescriptors
  /// Processes and threads.
  case processes
  case memory
  /// Descriptors that this user's processes watch (epoll(7)).
  case watches

  /// The calls whose EAGAIN means that no process or thread can be made.
  private static let makers: Set<String> = ["fork", "pthread_create", "posix_spawn"]

  /// - Parameters:
  ///   - number: an errno.
  ///   - call: the call that failed with it.
  package init?(_ number: Int32, of call: String = "") {
    switch number {
    case EMFILE: self = .descriptors
    case ENFILE: self = .systemDescriptors
    case EAGAIN where Self.makers.contains(call): self = .processes
    case ENOSPC where call == "epoll_ctl": self = .watches
    case ENOMEM, ENOBUFS: self = .memory
    default: return nil
    }
  }

  /// The lack of descriptors at this moment; nil if one is free. For libraries that report another
  /// error when they get none.
  package static var ofDescriptors: Shortage? {
    let descriptor = dup(STDERR_FILENO)
    guard descriptor < 0 else {
      close(descriptor)
      return nil
    }
    let shortage = Shortage(errno)
    return shortage == .descriptors || shortage == .systemDescriptors ? shortage : nil
  }

  /// The lack of memory at this moment; nil if as much is free as libcurl reads of a header line. For
  /// libraries that report a lack of memory for other reasons, too.
  static var ofMemory: Shortage? {
    let size = 256 << 10
    let spare = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let spare = unsafe spare, unsafe spare != MAP_FAILED else { return .memory }
    unsafe munmap(spare, size)
    return nil
  }

  /// What to do.
  package var description: String {
    switch self {
    case .descriptors: "raise the limit on open files (ulimit -n), which is \(Self.limit(RLIMIT_NOFILE))"
    case .systemDescriptors: "the whole system has too many open files; raise fs.file-max, or end other programs"
    case .processes: "raise the limit on processes (ulimit -u), which is \(Self.limit(__RLIMIT_NPROC)), or that of the container"
    case .watches: "this user's processes wait for too many descriptors; raise fs.epoll.max_user_watches"
    case .memory: "free memory, or raise the limit on it (ulimit -v, or that of the container)"
    }
  }

  private static func limit(_ resource: __rlimit_resource) -> String {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < UInt(Int.max) else { return "unlimited" }
    return "\(limit.rlim_cur)"
  }
}
