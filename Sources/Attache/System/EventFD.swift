internal import CLinux
internal import Glibc

/// A kernel counter that wakes a thread from `poll` or `epoll_wait` and keeps the wake-up until it
/// is read (eventfd(2)).
package final class EventFD: WakeSignal {
  package let descriptor: Int32

  /// - Throws: ``SystemError`` when the system cannot create a descriptor.
  package init() throws(SystemError) {
    descriptor = try SystemError.check("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
  }

  deinit {
    close(descriptor)
  }

  /// Ends the current wait, or the next one. Safe from any thread.
  package func ring() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  /// Resets the counter. Blocks until the next ring if there was none.
  package func silence() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }

  /// Waits until the counter is rung or `instant` is reached, and resets it.
  package func wait(until instant: MonotonicInstant?) {
    guard let nanoseconds = instant?.nanosecondTimeout else {
      silence()
      // Let the ringing thread continue first, so that this wake-up also handles what it adds next.
      sched_yield()
      return
    }
    if linux_wait_readable(descriptor, Int(nanoseconds)) != 0 { silence() }
  }
}
