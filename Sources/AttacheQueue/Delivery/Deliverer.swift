package import Attache
internal import Synchronization

/// Delivers the results of a queue: leases them, passes them to a sender, and stores the sender's
/// answers in the queue.
///
/// One thread calls the queue, and another renews the leases. The thread that brings answers gives
/// the sender its next results, so that the sender does not wait for the queue. A result is sent
/// twice only when its answer did not reach the queue.
public final class Deliverer: Sendable {
  private let queue: any ResultDelivery & QueueAdministration
  private let sender: any Sender
  private let configuration: DelivererConfiguration
  let queueClock: any QueueClock
  private let observer: any DelivererObserver
  private let notify: @Sendable (String) -> Void
  let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let renewer: LeaseRenewer
  let inbox: Mailbox<Inbox>
  /// All threads change it; nil before the run.
  private let state = Mutex<DelivererState?>(nil)
  /// The pause that was reported last.
  private let lastPause = Mutex<String?>(nil)

  /// Requests from other threads.
  struct Inbox {
    /// Whether anything has changed since the deliverer's thread last checked.
    var hasNews = false
    var isStopped = false
    var isCancelled = false
    /// Why leases could not be renewed, since the deliverer's thread last checked.
    var failure: QueueError?
  }

  /// - Parameters:
  ///   - queue: the caller closes it after the run.
  ///   - queueClock: the queue's clock, which measures leases and expiries.
  ///   - notify: receives messages for the user, one line each, on any thread.
  /// - Throws: ``SystemError`` when no descriptor is available.
  package init(
    _ configuration: DelivererConfiguration, queue: any ResultDelivery & QueueAdministration, sender: any Sender,
    queueClock: any QueueClock = SystemQueueClock(),
    observer: any DelivererObserver, machine: any Machine = SystemMachine(), notify: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    var configuration = configuration
    configuration.includesFiles = sender.wantsFiles
    self.configuration = configuration
    self.queue = queue
    self.sender = sender
    self.queueClock = queueClock
    self.observer = observer
    self.machine = machine
    self.notify = notify
    let wakeSignal = try machine.makeWakeSignal()
    self.wakeSignal = wakeSignal
    inbox = Mailbox(Inbox()) { wakeSignal.ring() }
    renewer = try LeaseRenewer(span: self.configuration.leaseSpan, clock: queueClock, machine: machine) { leases, span throws(QueueError) in
      _ = try queue.renewDeliveries(leases, for: span)
    }
  }

  /// Sends no more results. Waits for answers, for at most the time that one may take. Safe from
  /// any thread.
  public func stop() {
    inbox.change { ($0.isStopped, $0.hasNews) = (true, true) }
  }

  /// Sends no more results, and does not wait for answers. Safe from any thread.
  public func cancel() {
    inbox.change { ($0.isStopped, $0.isCancelled, $0.hasNews) = (true, true, true) }
  }

  /// Delivers until every result is delivered (``DelivererConfiguration/isOnce``) or ``stop()``.
  ///
  /// - Returns: the counts of the run, and whether work is left.
  /// - Throws: ``DelivererError``. The next deliverer sends unanswered results again.
  public func run() throws(DelivererError) -> DelivererResult {
    let start = machine.now
    do throws(QueueError) {
      try queue.shareDelivery(configuration.isOrdered ? .ordered : .amongDeliverers)
    } catch {
      throw .queue(error)
    }
    state.withLock { $0 = DelivererState(configuration) }
    do {
      try sender.start(self)
    } catch {
      throw .sender("\(error)")
    }
    defer { sender.close() }
    do throws(QueueError) {
      var result = try deliver()
      result.elapsed = start.duration(to: machine.now)
      let counts = try queue.counts()
      result.isWorkLeft = counts.undecided > 0 || counts.unread > 0
      return result
    } catch {
      throw .queue(error)
    }
  }

  private func startRenewing() throws(QueueError) -> any StartedThread {
    do throws(SystemError) {
      return try machine.start("renew") { [self] in
        renewer.run(
          due: { before in state.withLock { $0?.renewals(before: before) ?? [] } },
          renewed: { tokens, now in state.withLock { $0?.renewed(tokens, at: now) } },
          failed: { error in inbox.change { ($0.failure, $0.hasNews) = (error, true) } })
      }
    } catch {
      throw .failed("the system refuses: \(error)")
    }
  }

  private func deliver() throws(QueueError) -> DelivererResult {
    let renewing = try startRenewing()
    defer {
      renewer.finish()
      renewing.join()
    }
    let holds = try ReleasedHolds(of: queue)
    holds.onFailure = { [notify] path, error in
      notify("\(PrintableText.of(path)): \(error.call): \(error); the attachments that it holds stay in the store until a worker starts")
    }
    var isStopped = false
    var isCancelled = false
    // When to ask the queue again after it could not be written.
    var retryAt: MonotonicInstant?
    while true {
      let news = takeNews()
      if let failure = news.failure { retryAt = try pause(after: failure) ?? retryAt }
      if news.isStopped, !isStopped {
        isStopped = true
        stopSending()
        // A stopped deliverer does not wait for a queue that refuses answers.
        retryAt = nil
        sender.drain()
      }
      send()
      if retryAt.map({ $0 <= machine.now }) ?? true { retryAt = try exchange(holds, isPaused: retryAt != nil) }
      send()
      let now = machine.now
      let (isDone, stoppedAt, wakeUp) = change { ($0.isDone, $0.stoppedAt, $0.wakeUp(after: now)) }
      if isDone { return change { $0.result } }
      let isOverdue = stoppedAt.map { $0.duration(to: now) >= configuration.answerTimeout } ?? false
      if news.isCancelled || isOverdue, !isCancelled {
        isCancelled = true
        sender.cancel()
        continue
      }
      if inbox.take({ (!$0.hasNews, sleeps: !$0.hasNews) }) {
        wakeSignal.wait(until: isCancelled ? retryAt : [wakeUp, retryAt].compactMap(\.self).min())
      }
    }
  }

  private func takeNews() -> Inbox {
    inbox.take { inbox in
      defer { (inbox.hasNews, inbox.failure) = (false, nil) }
      return (inbox, sleeps: false)
    }
  }

  /// Exchanges answers for results with the queue.
  ///
  /// - Returns: the end of the pause if the queue refuses; nil if it does not.
  private func exchange(_ holds: ReleasedHolds, isPaused: Bool) throws(QueueError) -> MonotonicInstant? {
    do throws(QueueError) {
      try exchange(holds)
      if isPaused { endPause() }
      return nil
    } catch {
      if let end = try pause(after: error) { return end }
      // A stopped deliverer leaves answers that the queue refuses to the next deliverer.
      giveUp()
      throw error
    }
  }

  /// Sends no more results, and gives the waiting ones back to the queue.
  private func stopSending() {
    let now = machine.now
    note { $0.stop(at: now) }
  }

  /// Sends no more results, and does not wait for answers.
  private func giveUp() {
    stopSending()
    sender.cancel()
  }

  private func change<Value>(_ body: (inout DelivererState) -> Value) -> Value {
    state.withLock { current in
      var state = current ?? DelivererState(configuration)
      current = nil
      defer { current = state }
      return body(&state)
    }
  }

  /// Changes the state, and reports the changes to the observer.
  func note(_ body: (inout DelivererState) -> Void) {
    let (before, after) = change { state in
      let before = state.result
      body(&state)
      return (before, state.result)
    }
    report(before, after)
    reportPause()
  }

  private func report(_ before: DelivererResult, _ after: DelivererResult) {
    for status in DeliveryStatus.allCases {
      let count = (after.ended[status] ?? 0) - (before.ended[status] ?? 0)
      if count > 0 { observer.ended(status, count) }
    }
    if after.retried > before.retried { observer.retried(after.retried - before.retried) }
    if after.refused > before.refused { observer.refused(after.refused - before.refused) }
    for _ in before.restarts..<max(before.restarts, after.restarts) { observer.restarted() }
  }

  /// Pauses after a failure of the machine.
  ///
  /// - Returns: when the pause is over; nil for a deliverer that is stopped, which does not pause.
  /// - Throws: any other error, after the deliverer has given up.
  private func pause(after error: QueueError) throws(QueueError) -> MonotonicInstant? {
    guard let fault = MachineFault(error) else {
      giveUp()
      throw error
    }
    let now = machine.now
    defer { reportPause() }
    return change { state in
      guard state.stoppedAt == nil else { return nil }
      state.pause(fault.text, isOfMachine: true, at: now)
      return state.pause?.until ?? now
    }
  }

  private func endPause() {
    change { $0.endPause() }
    reportPause()
  }

  /// Reports the current pause, unless it was reported last. The lock keeps the reports of several
  /// threads in order. Leases are renewed in the meantime.
  private func reportPause() {
    lastPause.withLock { last in
      let why = change { $0.pause?.why }
      guard why != last else { return }
      last = why
      observer.paused(why)
      if let why { notify("paused: \(why); no result is lost, and the deliverer tries again") } else { notify("the deliverer goes on") }
    }
  }

  /// Gives the sender as many results as it has room for. Safe from any thread, and from within the
  /// sender's calls.
  func send() {
    while true {
      let (now, wall) = (machine.now, queueClock.wall)
      let (deliveries, before, after) = change { state in
        let before = state.result
        let next = state.next(at: now, wall: wall)
        observer.unanswered(state.unansweredCount)
        observer.blocked(since: state.blockedSince)
        return (next, before, state.result)
      }
      report(before, after)
      guard !deliveries.isEmpty else { return }
      sender.send(deliveries)
      change { $0.noteSent() }
    }
  }

  /// Stores the disposition of results in the queue, and leases more results.
  private func exchange(_ holds: ReleasedHolds) throws(QueueError) {
    let now = machine.now
    let (settled, request) = change { state in (state.settled, state.request(at: now)) }
    guard !settled.isEmpty || request != nil else { return }
    let uptime = queueClock.uptime
    var claim = DeliveryClaim()
    try holds.remove { () throws(QueueError) in
      claim = try queue.settle(settled, claiming: request)
      return claim.released
    }
    let (before, after) = change { state in
      let before = state.result
      state.taken(settled.count, claim)
      if let request { state.note(claim, of: request, at: now, leasedAt: uptime) }
      return (before, state.result)
    }
    report(before, after)
  }

  public func notify(_ notice: String) {
    notify(notice) as Void
  }
}
