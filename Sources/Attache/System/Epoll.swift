internal import CLinux
internal import Glibc

/// A poller based on epoll(7), with an eventfd to wake it.
final class Epoll: Poller {
  private let epoll: Int32
  private let alarm: EventFD
  /// The maximum number of events that a wait returns.
  private static let capacity = 256

  /// - Throws: ``SystemError`` when the system cannot create a descriptor.
  init() throws(SystemError) {
    epoll = try SystemError.check("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
    alarm = try EventFD()
    watch(alarm.descriptor, for: .readable, isKnown: false)
  }

  deinit {
    close(epoll)
  }

  func wake() {
    alarm.ring()
  }

  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool) {
    // libcurl may already have closed the descriptor; the kernel then no longer watches it.
    if isKnown, !control(EPOLL_CTL_MOD, descriptor, readiness), errno == ENOENT {
      control(EPOLL_CTL_ADD, descriptor, readiness)
    } else if !isKnown {
      control(EPOLL_CTL_ADD, descriptor, readiness)
    }
  }

  func unwatch(_ descriptor: Int32) {
    control(EPOLL_CTL_DEL, descriptor, [])
  }

  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.capacity) { events in
      let count = unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), instant?.pollTimeout ?? -1)
      for index in 0..<max(0, Int(count)) {
        let event = unsafe events[index]
        let descriptor = unsafe event.data.fd
        if descriptor == alarm.descriptor {
          alarm.silence()
        } else {
          ready(descriptor, Readiness(events: unsafe event.events))
        }
      }
    }
  }

  @discardableResult
  private func control(_ operation: Int32, _ descriptor: Int32, _ readiness: Readiness) -> Bool {
    var event = unsafe epoll_event(events: readiness.events, data: epoll_data_t(fd: descriptor))
    return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0
  }
}

extension Readiness {
  fileprivate init(events: UInt32) {
    self = []
    if events & EPOLLIN.rawValue != 0 { insert(.readable) }
    if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
    if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { insert(.failed) }
  }

  fileprivate var events: UInt32 {
    (contains(.readable) ? EPOLLIN.rawValue : 0) | (contains(.writable) ? EPOLLOUT.rawValue : 0)
  }
}
