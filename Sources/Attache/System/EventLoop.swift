internal import Synchronization

/// An engine's thread: a poller for descriptors, a heap for timers, and a mailbox for work from
/// other threads.
///
/// libcurl and c-ares live on it. What is not marked as safe from any thread may be called on the
/// loop only.
///
/// `@unchecked Sendable`: `handlers`, `timers`, `turnEnds`, `stepEnd`, `mail` and `chores` are
/// touched by the loop's thread alone; the rest is constant or locked.
package final class EventLoop: @unchecked Sendable {
  private typealias Work = @Sendable () -> Void

  private struct Mailbox {
    var work: [Work] = []
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
  private var stepEnd: (() -> Void)?
  private let clock: (any MachineClock)?
  /// What was taken out of the mailbox and is not done yet.
  private var mail = Ring<() -> Void>()
  private var chores = Ring<() -> Void>()

  /// What is done in a turn at most, so that whoever has an answer waits for no long queue of
  /// beginnings and ends: a transfer takes 100 µs to begin and 40 to take back.
  private static let portion = 64
  /// How long chores wait before the clock is looked at again.
  private static let pause = Duration.milliseconds(1)

  /// Starts the loop's thread; it runs until ``stop()``.
  ///
  /// - Parameters:
  ///   - name: the thread's, at most 15 bytes.
  ///   - clock: while it is behind with what is due, chores wait.
  /// - Throws: ``SystemError`` when the system gives no descriptor or no thread.
  package init(name: String = "fetch", machine: any Machine = SystemMachine(), clock: (any MachineClock)? = nil) throws(SystemError) {
    self.machine = machine
    self.clock = clock
    poller = try machine.makePoller()
    try machine.start(name) { self.run() }.detach()
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

  /// Runs `work` on the loop, soon and in the order posted. Safe from any thread. Work posted after
  /// ``stop()`` is dropped.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let wakes = mailbox.withLock { mailbox in
      guard mailbox.isOpen else { return false }
      mailbox.work.append(work)
      defer { mailbox.isAsleep = false }
      return mailbox.isAsleep
    }
    if wakes { poller.wake() }
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
  package func schedule(at instant: MonotonicInstant, _ action: @escaping () -> Void) -> TimerEntry {
    // It never leaves the loop.
    nonisolated(unsafe) let action = action
    return timers.add(at: instant) { unsafe action() }
  }

  /// Gives an appointment another time, be it that it has passed.
  package func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    timers.move(entry, to: instant)
  }

  /// Takes back what ``schedule(at:_:)`` gave.
  package func cancel(_ entry: TimerEntry) {
    timers.remove(entry)
  }

  /// Runs `work` soon, and not on the caller's stack. On the loop only. It goes before what has
  /// been posted and not been taken in yet.
  package func later(_ work: @escaping () -> Void) {
    mail.append(work)
  }

  /// Runs `work` when its turn comes, a few in each turn of the loop: it may wait, and what is
  /// posted meanwhile does not wait for it.
  package func addChore(_ work: @escaping () -> Void) {
    chores.append(work)
  }

  /// Runs `action` at the end of every turn from now on, when all that was ready has been handled:
  /// the place to hand on what has gathered. Safe from any thread.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    // It never leaves the loop.
    nonisolated(unsafe) let action = action
    post { [self] in unsafe turnEnds.append(action) }
  }

  /// Runs `action` after every step from now on: a ready descriptor, a timer that was due, or a
  /// piece of work. On the loop only.
  package func atStepEnd(_ action: @escaping () -> Void) {
    stepEnd = action
  }

  private func run() {
    while true {
      poller.wait(until: waitingEnds()) { descriptor, readiness in step { handlers[descriptor]?(descriptor, readiness) } }
      let isOver = runMail()
      // What the mail has begun may be due at once.
      runDueTimers()
      for action in turnEnds { action() }
      if isOver { break }
    }
    handlers.removeAll()
    turnEnds.removeAll()
    stepEnd = nil
    timers = TimerHeap()
    (mail, chores) = (Ring(), Ring())
  }

  private func step(_ work: () -> Void) {
    work()
    stepEnd?()
  }

  private func runDueTimers() {
    guard timers.earliest != nil else { return }
    let now = machine.now
    while let action = timers.popDue(at: now) { step(action) }
  }

  /// Until when there is nothing to do but what comes from outside; nil is for ever.
  private func waitingEnds() -> MonotonicInstant? {
    let isReady = !mail.isEmpty || !chores.isEmpty && clock?.isBehind != true
    let isAsleep = mailbox.withLock { mailbox in
      mailbox.isAsleep = mailbox.work.isEmpty && !isReady
      return mailbox.isAsleep
    }
    guard isAsleep else { return .distantPast }
    return chores.isEmpty ? timers.earliest : min(timers.earliest ?? .distantFuture, now.advanced(by: Self.pause))
  }

  /// - Returns: whether the loop was stopped, and all is done that was posted before.
  private func runMail() -> Bool {
    let isOpen = mailbox.withLock { mailbox in
      for item in mailbox.work { mail.append(item) }
      mailbox.work.removeAll(keepingCapacity: true)
      mailbox.isAsleep = false
      return mailbox.isOpen
    }
    for _ in 0..<Self.portion {
      guard let work = mail.popFirst() else { break }
      step(work)
    }
    if !isOpen || clock?.isBehind != true { runChores() }
    return !isOpen && mail.isEmpty && chores.isEmpty
  }

  private func runChores() {
    for _ in 0..<Self.portion {
      guard let chore = chores.popFirst() else { return }
      step(chore)
    }
  }
}
