internal import CLinux
internal import Glibc
internal import Synchronization

/// The engine's one thread: epoll for descriptors, a heap for timers, and an eventfd that wakes it for work from other threads.
///
/// libcurl and c-ares live on it. What is not marked as safe from any thread may be called on the loop only.
///
/// `@unchecked Sendable`: `handlers`, `timers` and `turnEnds` are touched by the loop's thread alone; the rest is constant or locked.
@safe
package final class EventLoop: @unchecked Sendable {
  /// What a descriptor is watched for, and what happened to it.
  package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Reported unasked.
    package static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
  }

  private struct Mailbox {
    var work: [@Sendable () -> Void] = []
    var isOpen = true
  }

  private let epoll: Int32
  private let alarm: EventFD
  private let mailbox = Mutex(Mailbox())
  private var handlers: [Int32: (Readiness) -> Void] = [:]
  private var timers = TimerHeap()
  private var turnEnds: [() -> Void] = []
  private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)

  /// Starts the loop's thread; it runs until ``stop()``.
  ///
  /// - Throws: ``SystemError`` when the system gives no descriptor or no thread.
  package init() throws(SystemError) {
    epoll = try SystemError.check("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
    alarm = try EventFD()
    watch(alarm.descriptor, for: .readable) { [alarm] _ in alarm.silence() }
    try Thread.start("fetch") { self.run() }.detach()
  }

  deinit {
    close(epoll)
    unsafe events.deallocate()
  }

  /// Ends the loop after the work that was posted before. Safe from any thread.
  package func stop() {
    mailbox.withLock { $0.isOpen = false }
    alarm.ring()
  }

  /// Runs `work` on the loop, soon and in the order posted. Safe from any thread. Work posted after ``stop()`` is dropped.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let wasEmpty = mailbox.withLock { mailbox in
      guard mailbox.isOpen else { return false }
      mailbox.work.append(work)
      return mailbox.work.count == 1
    }
    if wasEmpty { alarm.ring() }
  }

  /// Calls `handler` whenever `descriptor` is ready; replaces what was watched before.
  package func watch(_ descriptor: Int32, for readiness: Readiness, _ handler: @escaping (Readiness) -> Void) {
    let isKnown = handlers.updateValue(handler, forKey: descriptor) != nil
    control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, readiness)
  }

  /// Stops watching; call it before the descriptor is closed.
  package func unwatch(_ descriptor: Int32) {
    guard handlers.removeValue(forKey: descriptor) != nil else { return }
    control(EPOLL_CTL_DEL, descriptor, [])
  }

  /// Runs `action` on the loop when `instant` has come.
  package func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerEntry {
    timers.add(at: instant, action)
  }

  /// Takes back what ``schedule(at:_:)`` gave.
  package func cancel(_ entry: TimerEntry) {
    timers.remove(entry)
  }

  /// Runs `action` at the end of every turn, when all that was ready has been handled: the place to hand on what has gathered.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    turnEnds.append(action)
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ readiness: Readiness) {
    var event = unsafe epoll_event(events: readiness.rawValue, data: epoll_data_t(fd: descriptor))
    // libcurl may have closed the descriptor by itself already; the kernel has then forgotten it.
    if unsafe epoll_ctl(epoll, operation, descriptor, &event) == -1, errno == ENOENT, operation == EPOLL_CTL_MOD {
      _ = unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
    }
  }

  private func run() {
    while true {
      waitForEvents()
      runDueTimers()
      let isOver = runMail()
      for action in turnEnds { action() }
      if isOver { break }
    }
    handlers.removeAll()
    turnEnds.removeAll()
    timers = TimerHeap()
  }

  private func waitForEvents() {
    let count = unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), timers.earliest?.pollTimeout ?? -1)
    for index in 0..<max(0, Int(count)) {
      let event = unsafe events[index]
      unsafe handlers[event.data.fd]?(Readiness(rawValue: event.events))
    }
  }

  private func runDueTimers() {
    guard timers.earliest != nil else { return }
    let now = MonotonicInstant.now
    while let action = timers.popDue(at: now) { action() }
  }

  /// - Returns: whether the loop was stopped.
  private func runMail() -> Bool {
    let (work, isOpen) = mailbox.withLock { mailbox in
      let work = mailbox.work
      mailbox.work.removeAll(keepingCapacity: true)
      return (work, mailbox.isOpen)
    }
    for item in work { item() }
    return !isOpen
  }
}
