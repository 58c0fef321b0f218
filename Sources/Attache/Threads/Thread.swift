internal import CLinux
internal import Glibc

/// A thread of our own, for C that may block and for work that must not wait behind any other.
package struct Thread: StartedThread {
  private var handle: pthread_t

  /// Starts a thread that runs `body` once.
  ///
  /// Every signal is blocked in it: the process's signals go to whoever reads them, and a closed socket answers EPIPE.
  ///
  /// - Parameter name: what tools such as `top -H` show, at most 15 bytes.
  /// - Throws: ``SystemError`` when the system gives no thread.
  @discardableResult
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> Thread {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
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

  /// Waits until the thread has ended; may be called once.
  package func join() {
    pthread_join(handle, nil)
  }

  /// Lets the thread end by itself.
  package func detach() {
    pthread_detach(handle)
  }

  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { pointer in
    guard let pointer = unsafe pointer else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    _ = unsafe prctl_set_name(start.name)
    start.body()
    return nil
  }
}
