import Glibc

/// SIGTERM and SIGINT, taken by a thread of their own: what they start is no signal handler's business.
enum StopSignals {
  /// Blocks both signals in this thread and in all that it starts; to be called before any thread is started.
  static func block() {
    var signals = set
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Calls `stop` at each signal with its number, counted from 1, for as long as the process lives.
  static func onEach(_ stop: @escaping @Sendable (Int) -> Void) {
    let waiter = unsafe Unmanaged.passRetained(Waiter(stop)).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { waiter in
        guard let waiter = unsafe waiter else { return nil }
        unsafe Unmanaged<Waiter>.fromOpaque(waiter).takeRetainedValue().run()
      }, waiter)
    if result != 0 { ErrorOutput.write("attache: no thread for signals: \(unsafe String(cString: strerror(result)))\n") }
  }

  private final class Waiter {
    private let stop: @Sendable (Int) -> Void

    init(_ stop: @escaping @Sendable (Int) -> Void) {
      self.stop = stop
    }

    func run() -> Never {
      var count = 0
      while true {
        var signals = StopSignals.set
        var signal: Int32 = 0
        guard unsafe sigwait(&signals, &signal) == 0 else { continue }
        count += 1
        stop(count)
      }
    }
  }

  fileprivate static var set: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    return signals
  }
}
