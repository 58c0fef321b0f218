internal import CLinux
internal import Glibc

/// A POSIX thread, for C code that may block and for work that must not wait behind other work.
package struct Thread: StartedThread {
  private var handle: pthread_t

  /// Starts a thread that runs `body` once.
  ///
  /// The thread blocks every signal: signals to the process reach the code that reads them, and a
  /// write to a closed socket fails with EPIPE.
  ///
  /// - Parameters:
  ///   - name: the name that tools such as `top -H` show, at most 15 bytes.
  ///   - urgency: whether the thread runs before others when there are too few processors.
  /// - Throws: ``SystemError`` when the system cannot create a thread, or when too little memory
  ///   would be left for it to work (``spareMemory``).
  @discardableResult
  package static func start(
    _ name: String, _ urgency: ThreadUrgency = .usual, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> Thread {
    try checkSpareMemory()
    let start = unsafe Unmanaged.passRetained(Start(name: name, urgency: urgency, body: body))
    var everySignal = sigset_t()
    var previous = sigset_t()
    unsafe sigfillset(&everySignal)
    unsafe pthread_sigmask(SIG_SETMASK, &everySignal, &previous)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
    var handle = pthread_t()
    let result = unsafe pthread_create(&handle, nil, Self.entry, start.toOpaque())
    guard result == 0 else {
      unsafe start.release()
      throw SystemError(call: "pthread_create", number: result)
    }
    return Thread(handle: handle)
  }

  /// The address space, in bytes, that must be free when a thread starts: its stack of 8 MiB, and 32
  /// MiB for the first work of all threads, such as the memory of the JSON parsers (18 MB each).
  ///
  /// The Swift runtime does not check its own allocations. A thread that meets the end of the memory
  /// ends the process by SIGSEGV or SIGABRT, whatever its work is.
  private static let spareMemory = 40 << 20

  private static func checkSpareMemory() throws(SystemError) {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    let spare = unsafe mmap(nil, spareMemory, PROT_NONE, flags, -1, 0)
    guard let spare = unsafe spare, unsafe spare != MAP_FAILED else { throw SystemError(call: "pthread_create", number: errno) }
    unsafe munmap(spare, spareMemory)
  }

  /// Waits until the thread ends. Call it at most once.
  package func join() {
    pthread_join(handle, nil)
  }

  /// Releases the thread's resources when it ends, without a join.
  package func detach() {
    pthread_detach(handle)
  }

  private final class Start {
    let name: String
    let urgency: ThreadUrgency
    let body: @Sendable () -> Void

    init(name: String, urgency: ThreadUrgency, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.urgency = urgency
      self.body = body
    }
  }

  /// Gives the calling thread a larger share of the processors than the other threads of the
  /// process, if that is permitted (CAP_SYS_NICE, RLIMIT_NICE). Otherwise it has no effect.
  ///
  /// Linux keeps a nice value per thread (setpriority(2), "C library/kernel differences"). Ten
  /// steps are about ten times the share (sched(7)).
  private static func goFirst() {
    let caller = Int32(PRIO_PROCESS.rawValue)
    _ = setpriority(caller, 0, getpriority(caller, 0) - 10)
  }

  private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
    guard let pointer = unsafe pointer else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    _ = unsafe prctl_set_name(start.name)
    if start.urgency == .timely { goFirst() }
    start.body()
    return nil
  }
}
