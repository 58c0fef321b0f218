/// The thread of an engine, with a poller for descriptors, a heap for timers, and a mailbox for
/// work from other threads.
///
/// libcurl and c-ares run on this thread. Call a method only on the loop's thread, unless it is
/// marked as safe from any thread.
///
/// `@unchecked Sendable`: only the loop's thread accesses `handlers`, `timers`, `turnEnds`,
/// `stepEnd`, `mail` and `lowPriority`; the other properties are constant and `Sendable`.
package final class EventLoop: @unchecked Sendable {
  private typealias Work = @Sendable () -> Void

  private struct Posted {
    var work: [Work] = []
    var isOpen = true
  }

  package let machine: any Machine
  private let poller: any Poller
  private let mailbox: Mailbox<Posted>
  private var handlers: [Int32: (Int32, Readiness) -> Void] = [:]
  private var timers = TimerHeap()
  private var turnEnds: [() -> Void] = []
  private var stepEnd: (() -> Void)?
  private let isOverdue: @Sendable () -> Bool
  /// Work taken from the mailbox and not yet run.
  private var mail = Ring<() -> Void>()
  private var lowPriority = Ring<() -> Void>()

  /// The maximum number of mail items, and of items of low priority, per turn of the loop. A transfer takes 100
  /// µs to start and 40 µs to finish; a longer run of these would delay ready responses.
  private static let portion = 64
  /// How long delayed low-priority work waits before the loop checks the clock again.
  private static let pause = Duration.milliseconds(1)

  /// Starts the loop's thread, which runs until ``stop()``.
  ///
  /// - Parameters:
  ///   - name: the name of the thread, at most 15 bytes.
  ///   - isOverdue: low-priority work waits while this returns true.
  /// - Throws: ``SystemError`` when the system cannot create a descriptor or a thread.
  package init(
    name: String = "fetch", machine: any Machine = SystemMachine(), isOverdue: @escaping @Sendable () -> Bool = { false }
  ) throws(SystemError) {
    self.machine = machine
    self.isOverdue = isOverdue
    let poller = try machine.makePoller()
    self.poller = poller
    mailbox = Mailbox(Posted()) { poller.wake() }
    try machine.start(name) { self.run() }.detach()
  }

  /// The current instant on the machine's clock. Safe from any thread.
  package var now: MonotonicInstant {
    machine.now
  }

  /// Ends the loop after the work that is already posted. Safe from any thread.
  package func stop() {
    mailbox.change { $0.isOpen = false }
  }

  /// Runs `work` on the loop, in the order posted. Safe from any thread. Work posted after
  /// ``stop()`` is discarded.
  package func post(_ work: @escaping @Sendable () -> Void) {
    mailbox.change { if $0.isOpen { $0.work.append(work) } }
  }

  /// Calls `handler` whenever `descriptor` is ready. Replaces an earlier watch of the descriptor.
  package func watch(_ descriptor: Int32, for readiness: Readiness, _ handler: @escaping (Int32, Readiness) -> Void) {
    let isKnown = handlers.updateValue(handler, forKey: descriptor) != nil
    poller.watch(descriptor, for: readiness, isKnown: isKnown)
  }

  /// Stops watching a descriptor. Call this before closing the descriptor.
  package func unwatch(_ descriptor: Int32) {
    guard handlers.removeValue(forKey: descriptor) != nil else { return }
    poller.unwatch(descriptor)
  }

  /// Runs `action` on the loop at `instant`.
  package func schedule(at instant: MonotonicInstant, _ action: @escaping () -> Void) -> TimerEntry {
    // It never leaves the loop.
    nonisolated(unsafe) let action = action
    return timers.add(at: instant) { unsafe action() }
  }

  /// Moves a timer to another instant, which may be in the past. Does nothing if the timer has
  /// already run or was cancelled.
  package func move(_ entry: TimerEntry, to instant: MonotonicInstant) {
    timers.move(entry, to: instant)
  }

  /// Cancels a timer that ``schedule(at:_:)`` returned.
  package func cancel(_ entry: TimerEntry) {
    timers.remove(entry)
  }

  /// Runs `work` soon, but not on the caller's stack. Call it on the loop only. The work runs
  /// before posted work that the loop has not taken from the mailbox yet.
  package func later(_ work: @escaping () -> Void) {
    mail.append(work)
  }

  /// Queues low-priority work. Each turn of the loop runs only a few items of it, so posted work
  /// does not wait for them.
  package func postLowPriority(_ work: @escaping () -> Void) {
    lowPriority.append(work)
  }

  /// Runs `action` at the end of every turn from now on, after the loop has handled everything that
  /// was ready. Use it to pass on accumulated results. Safe from any thread.
  package func atTurnEnd(_ action: @escaping () -> Void) {
    // It never leaves the loop.
    nonisolated(unsafe) let action = action
    post { [self] in unsafe turnEnds.append(action) }
  }

  /// Runs `action` after every step from now on. A step is one ready descriptor, one due timer, one
  /// piece of work, or one action at the end of a turn. Call it on the loop only.
  package func atStepEnd(_ action: @escaping () -> Void) {
    stepEnd = action
  }

  private func run() {
    while true {
      poller.wait(until: waitingEnds()) { descriptor, readiness in step { handlers[descriptor]?(descriptor, readiness) } }
      let isOver = runMail()
      // Timers that this work has set may already be due.
      runDueTimers()
      for action in turnEnds { step(action) }
      if isOver { break }
    }
    handlers.removeAll()
    turnEnds.removeAll()
    stepEnd = nil
    timers = TimerHeap()
    (mail, lowPriority) = (Ring(), Ring())
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

  /// Returns the instant until which the loop may sleep unless an outside event wakes it; nil means
  /// no limit.
  private func waitingEnds() -> MonotonicInstant? {
    let isReady = !mail.isEmpty || !lowPriority.isEmpty && !isOverdue()
    let isAsleep = mailbox.take { posted in
      let isAsleep = posted.work.isEmpty && posted.isOpen && !isReady
      return (isAsleep, sleeps: isAsleep)
    }
    guard isAsleep else { return .distantPast }
    return lowPriority.isEmpty ? timers.earliest : min(timers.earliest ?? .distantFuture, now.advanced(by: Self.pause))
  }

  /// - Returns: whether the loop was stopped and all work posted before is done.
  private func runMail() -> Bool {
    let isOpen = mailbox.take { posted in
      for item in posted.work { mail.append(item) }
      posted.work.removeAll(keepingCapacity: true)
      return (posted.isOpen, sleeps: false)
    }
    for _ in 0..<Self.portion {
      guard let work = mail.popFirst() else { break }
      step(work)
    }
    if !isOpen || !isOverdue() { runLowPriority() }
    return !isOpen && mail.isEmpty && lowPriority.isEmpty
  }

  private func runLowPriority() {
    for _ in 0..<Self.portion {
      guard let work = lowPriority.popFirst() else { return }
      step(work)
    }
  }
}
