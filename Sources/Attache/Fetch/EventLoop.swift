internal import Synchronization

/// The engine's one thread: a poller for descriptors, a heap for timers, and a mailbox for work from other threads.
///
/// libcurl and c-ares live on it. What is not marked as safe from any thread may be called on the loop only.
///
/// `@unchecked Sendable`: `handlers`, `timers` and `turnEnds` are touched by the loop's thread alone; the rest is constant or locked.
package final class EventLoop: @unchecked Sendable {
  private struct Mailbox {
    var work: [@Sendable () -> Void] = []
    var isOpen = true
    /// Whether the loop sleeps, or is about to, and has to be woken.
    var isAsleep = false
  }

  package let machine: any Machine
  private let poller: any Poller
  private let mailbox = Mutex(Mailbox())
  private var handlers: [Int32: (Int32, Readiness) -> Void] = [:]
  private var timers = TimerHeap()
  private var turnEnds: [() -> Void] = []

  /// Starts the loop's thread; it runs until ``stop()``.
  ///
  /// - Throws: ``SystemError`` when the system gives no descriptor or no thread.
  package init(machine: any Machine = SystemMachine()) throws(SystemError) {
    self.machine = machine
    poller = try machine.makePoller()
    try machine.start("fetch") { self.run() }.detach()
  }

  /// The present instant, by the machine's clock. Safe from any thread.
  package var now: MonotonicInstant {
    machine.now
  }

  /// Ends the loop after the work that was posted before. Safe from any thread.
  package func stop() {
    mailbox.withLock { $0.isOpen = false }
    poller.wake()
  }

  /// Runs `work` on the loop, soon and in the order posted. Safe from any thread. Work posted after ``stop()`` is dropped.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let wakes = mailbox.withLock { mailbox in
      guard mailbox.isOpen else { return false }
      mailbox.work.append(work)
      defer { mailbox.isAsleep = false }
      return mailbox.isAsleep
    }
    if wakes { poller.wake() }
  }

  /// Runs `work` on the loop, before what is posted later, when the loop wakes for something else. Safe from any thread.
  package func postUnhurried(_ work: @escaping @Sendable () -> Void) {
    mailbox.withLock { mailbox in
      if mailbox.isOpen { mailbox.work.append(work) }
    }
  }

  /// Calls `handler` whenever `descriptor` is ready; replaces what was watched before.
  package func watch(_ descriptor: Int32, for readiness: Readiness, _ handler: @escaping (Int32, Readiness) -> Void) {
    let isKnown = handlers.updateValue(handler, forKey: descriptor) != nil
    poller.watch(descriptor, for: readiness, isKnown: isKnown)
  }

  /// Stops watching; call it before the descriptor is closed.
  package func unwatch(_ descriptor: Int32) {
    guard handlers.removeValue(forKey: descriptor) != nil else { return }
    poller.unwatch(descriptor)
  }

  /// Runs `action` on the loop when `instant` has come.
  package func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerEntry {
    timers.add(at: instant, action)
  }

  /// Gives an appointment another time, be it that it has passed.
  package func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    timers.move(entry, to: instant)
  }

  /// Takes back what ``schedule(at:_:)`` gave.
  package func cancel(_ entry: TimerEntry) {
    timers.remove(entry)
  }

  /// Runs `action` at the end of every turn, when all that was ready has been handled: the place to hand on what has gathered.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    turnEnds.append(action)
  }

  private func run() {
    while true {
      let hasMail = mailbox.withLock { mailbox in
        mailbox.isAsleep = mailbox.work.isEmpty
        return !mailbox.isAsleep
      }
      poller.wait(until: hasMail ? .distantPast : timers.earliest) { descriptor, readiness in handlers[descriptor]?(descriptor, readiness) }
      let isOver = runMail()
      // What the mail has begun may be due at once.
      runDueTimers()
      for action in turnEnds { action() }
      if isOver { break }
    }
    handlers.removeAll()
    turnEnds.removeAll()
    timers = TimerHeap()
  }

  private func runDueTimers() {
    guard timers.earliest != nil else { return }
    let now = machine.now
    while let action = timers.popDue(at: now) { action() }
  }

  /// - Returns: whether the loop was stopped.
  private func runMail() -> Bool {
    let (work, isOpen) = mailbox.withLock { mailbox in
      let work = mailbox.work
      mailbox.work.removeAll(keepingCapacity: true)
      mailbox.isAsleep = false
      return (work, mailbox.isOpen)
    }
    for item in work { item() }
    return !isOpen
  }
}
