internal import CLinux
internal import Glibc

/// The machine that the process runs on: the monotonic clock, POSIX threads, eventfd and epoll.
package struct SystemMachine: Machine {
  package init() {}

  package var now: MonotonicInstant {
    .now
  }

  package var processors: Int {
    sysconf(Int32(_SC_NPROCESSORS_ONLN))
  }

  package var randomFraction: Double {
    .random(in: 0...1)
  }

  package func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError)
    -> any StartedThread
  {
    try Thread.start(name, urgency, body)
  }

  package func makeWakeSignal() throws(SystemError) -> any WakeSignal {
    try EventFD()
  }

  package func makeInputGate() throws(SystemError) -> any InputGate {
    try InputPoll()
  }

  package func makePoller() throws(SystemError) -> any Poller {
    try Epoll()
  }

  package func makeStreams() throws(SystemError) -> (any ByteStream, any ByteStream) {
    let (one, other) = try SocketStream.pair()
    return (SocketStream(one), SocketStream(other))
  }
}

/// Waits until a descriptor is ready, an instant is reached, or another thread calls ``wake()``.
/// Only the loop's thread may call the other methods.
package protocol Poller: AnyObject, Sendable {
  /// Watches a descriptor from now on. `isKnown` says whether it is already watched, perhaps for
  /// another readiness.
  func watch(_ descriptor: Int32, for readiness: Readiness, isKnown: Bool)
  func unwatch(_ descriptor: Int32)
  /// Waits until `instant` at the latest, and calls `ready` for each ready descriptor.
  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void)
  /// Ends the current wait, or the next one. Safe from any thread.
  func wake()
}

/// The events that a descriptor is watched for, or that have occurred on it.
package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let readable = Readiness(rawValue: 1)
  package static let writable = Readiness(rawValue: 2)
  /// An error or a hang-up. Reported even when not requested.
  package static let failed = Readiness(rawValue: 4)
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

/// A poller based on epoll(7), with an eventfd to wake it.
final class Epoll: Poller {
  /// Calls epoll_ctl(2) of an epoll with an operation, a descriptor and what it is watched for, and
  /// returns whether it succeeded; otherwise see `errno`.
  typealias Control = @Sendable (Int32, Int32, Int32, Readiness) -> Bool

  private let epoll: Int32
  private let alarm: EventFD
  /// The maximum number of events that a wait returns.
  private static let capacity = 256
  /// How long until the kernel is asked again to watch a descriptor that it refused for lack of
  /// memory.
  private static let pause = Duration.milliseconds(100)
  private let failures: SurvivedFailures
  private let control: Control

  // The loop's thread alone uses it.
  nonisolated(unsafe) private var refused: [Int32: Readiness] = [:]

  /// - Throws: ``SystemError`` when the system cannot create a descriptor.
  init(failures: SurvivedFailures = .process, control: @escaping Control = Epoll.callKernel) throws(SystemError) {
    (self.failures, self.control) = (failures, control)
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
    if isKnown, control(epoll, EPOLL_CTL_MOD, descriptor, readiness) || errno != ENOENT { return }
    unsafe refused[descriptor] = nil
    guard !control(epoll, EPOLL_CTL_ADD, descriptor, readiness) else { return }
    let error = SystemError(call: "epoll_ctl", number: errno)
    guard error.number == ENOMEM || error.number == ENOSPC else { return }
    unsafe refused[descriptor] = readiness
    failures.note("\(error); it is tried again every 100 ms")
  }

  func unwatch(_ descriptor: Int32) {
    unsafe refused[descriptor] = nil
    _ = control(epoll, EPOLL_CTL_DEL, descriptor, [])
  }

  /// - Returns: when to stop waiting.
  private func watchRefused(_ instant: MonotonicInstant?) -> MonotonicInstant? {
    guard unsafe !refused.isEmpty else { return instant }
    for (descriptor, readiness) in unsafe refused { watch(descriptor, for: readiness, isKnown: false) }
    return unsafe refused.isEmpty ? instant : min(instant ?? .distantFuture, .now.advanced(by: Self.pause))
  }

  func wait(until instant: MonotonicInstant?, _ ready: (Int32, Readiness) -> Void) {
    let instant = watchRefused(instant)
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.capacity) { events in
      let count = unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), instant?.pollTimeout ?? -1)
      // No other error passes: the loop would spin.
      precondition(count >= 0 || errno == EINTR, "\(SystemError(call: "epoll_wait", number: errno))")
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

  static func callKernel(_ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ readiness: Readiness) -> Bool {
    var event = unsafe epoll_event(events: readiness.events, data: epoll_data_t(fd: descriptor))
    return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0
  }
}

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
