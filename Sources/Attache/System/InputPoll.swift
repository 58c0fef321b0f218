internal import Glibc

/// Waits for a descriptor and a wake signal at the same time, by poll(2).
final class InputPoll: InputGate {
  private let wakeSignal: EventFD

  /// - Throws: ``SystemError`` when the system cannot create a descriptor.
  init() throws(SystemError) {
    wakeSignal = try EventFD()
  }

  func ring() {
    wakeSignal.ring()
  }

  func wait(for descriptor: Int32, until instant: MonotonicInstant?) throws(SystemError) -> Bool {
    var requests = (
      pollfd(fd: wakeSignal.descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    )
    let count = unsafe withUnsafeMutablePointer(to: &requests) { pair in
      unsafe pair.withMemoryRebound(to: pollfd.self, capacity: 2) { unsafe poll($0, 2, instant?.pollTimeout ?? -1) }
    }
    if count == -1, errno != EINTR { throw SystemError(call: "poll", number: errno) }
    guard count > 0 else { return false }
    guard requests.0.revents != 0 else { return true }
    wakeSignal.silence()
    return false
  }
}
