internal import CLinux
internal import Glibc

/// A kernel counter that wakes a thread from `poll` or `epoll_wait` and remembers that it was rung
/// (eventfd(2)).
package final class EventFD: WakeSignal {
  package let descriptor: Int32

  /// - Throws: ``SystemError`` when no descriptor is to be had.
  package init() throws(SystemError) {
    descriptor = try SystemError.check("eventfd", eventfd(0, Int32(EFD_CLOEXEC)))
  }

  deinit {
    close(descriptor)
  }

  /// Wakes the waiter, now or when it next waits. Safe from any thread.
  package func ring() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  /// Takes back every ring so far, and waits for one if there was none.
  package func silence() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }

  /// Waits until the counter is rung or `instant` has come, and silences it.
  package func wait(until instant: MonotonicInstant?) {
    guard let instant else {
      silence()
      // Who rang may go on first: what it adds meanwhile is dealt with in the same go.
      sched_yield()
      return
    }
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&request, 1, instant.pollTimeout) > 0 { silence() }
  }
}
