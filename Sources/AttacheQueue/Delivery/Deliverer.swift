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
  private let queueClock: any QueueClock
  private let observer: any DelivererObserver
  private let notify: @Sendable (String) -> Void
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let renewer: LeaseRenewer
  /// All threads change it. The deliverer's thread waits for its news.
  private let state: Mailbox<DelivererState>
  /// The pause that was reported last.
  private let lastPause = Mutex<String?>(nil)

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
    state = Mailbox(DelivererState(configuration)) { wakeSignal.ring() }
    renewer = try LeaseRenewer(span: configuration.leaseSpan, clock: queueClock, machine: machine) { leases, span throws(QueueError) in
      _ = try queue.renewDeliveries(leases, for: span)
    }
  }

  /// Sends no more results. Waits for answers, for at most the time that one may take. Safe from
  /// any thread.
  public func stop() {
    state.change { $0.news.isStopped = true }
  }

  /// Sends no more results, and does not wait for answers. Safe from any thread.
  public func cancel() {
    state.change { ($0.news.isStopped, $0.news.isCancelled) = (true, true) }
  }

  /// The number of answers so far, by a bounded number of names (``AnswerLedger``).
  package var answers: [String: Int] { state.read(\.answers.counts) }

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
    do {
      try sender.start(self)
    } catch {
      throw .sender("\(error)")
    }
    defer { sender.close() }
    do throws(QueueError) {
      var result = try renewer.run { [self] body in
        state.change { (body(&$0.leases), isNews: false) }
      } failed: { [self] error in
        state.change { $0.news.failure = error }
      } during: { () throws(QueueError) in
        try deliver(ReleasedHolds(of: queue))
      }
      change { $0.tellFailures(at: machine.now, isOver: true) }
      result.answers = state.read { $0.result.answers }
      result.elapsed = start.duration(to: machine.now)
      let counts = try queue.counts()
      result.isWorkLeft = counts.undecided > 0 || counts.unread > 0
      return result
    } catch {
      throw .queue(error)
    }
  }

  private func deliver(_ holds: ReleasedHolds) throws(QueueError) -> DelivererResult {
    holds.onFailure = { [notify] path, error in
      notify("\(PrintableText.of(path)): \(error.call): \(error); the attachments that it holds stay in the store until a worker starts")
    }
    var (isStopped, isCancelled) = (false, false)
    // When to ask the queue again after it could not be written.
    var retryAt: MonotonicInstant?
    while true {
      let news = state.take { ($0.takeNews(), sleeps: false) }
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
      change { $0.tellFailures(at: now) }
      let (result, isOverdue, wakeUp) = state.read { ($0.isDone ? $0.result : nil, $0.isOverdue(at: now), $0.wakeUp(after: now)) }
      if let result { return result }
      if news.isCancelled || isOverdue, !isCancelled {
        isCancelled = true
        sender.cancel()
        continue
      }
      if state.take({ (!$0.hasNews, sleeps: !$0.hasNews) }) {
        let next = isCancelled ? [retryAt] : [wakeUp, retryAt, state.read(\.answers.nextDue)]
        wakeSignal.wait(until: next.compactMap(\.self).min())
      }
    }
  }

  /// Exchanges answers for results with the queue.
  ///
  /// - Returns: the end of the pause if the queue refuses; nil if it does not.
  private func exchange(_ holds: ReleasedHolds, isPaused: Bool) throws(QueueError) -> MonotonicInstant? {
    do throws(QueueError) {
      try exchange(holds)
      if let left = state.read(\.leftovers) {
        let counts = try queue.counts()
        if counts.undecided == 0, counts.unread <= left { stop() }
      }
      if isPaused { change { $0.endPause() } }
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
    change { $0.stop(at: now) }
  }

  /// Sends no more results, and does not wait for answers.
  private func giveUp() {
    stopSending()
    sender.cancel()
  }

  /// Changes the state without waking the deliverer's thread, and reports the changes to the observer.
  @discardableResult
  private func change<Value: Sendable>(_ body: (inout DelivererState) -> Value) -> Value {
    let (value, before, after, messages) = state.change { state in
      let before = (state.result, state.pause?.why)
      let value = body(&state)
      return ((value, before, (state.result, state.pause?.why), state.takeMessages()), isNews: false)
    }
    for message in messages { notify(message) as Void }
    if before.0 != after.0 { report(before.0, after.0) }
    if before.1 != after.1 { reportPause() }
    return value
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
    return change { state in
      guard state.stoppedAt == nil else { return nil }
      state.pause(fault.text, isOfMachine: true, at: now)
      return state.pause?.until ?? now
    }
  }

  /// Reports the current pause, unless it was reported last. The lock keeps the reports of several
  /// threads in order. Leases are renewed in the meantime.
  private func reportPause() {
    lastPause.withLock { last in
      let why = state.read { $0.pause?.why }
      guard why != last else { return }
      last = why
      observer.paused(why)
      if let why { notify("paused: \(why); no result is lost, and the deliverer tries again") } else { notify("the deliverer goes on") }
    }
  }

  /// Gives the sender as many results as it has room for. Safe from any thread, and from within the
  /// sender's calls.
  private func send() {
    while true {
      let (now, wall) = (machine.now, queueClock.wall)
      let deliveries = change { state in
        let next = state.next(at: now, wall: wall)
        observer.unanswered(state.unansweredCount)
        observer.blocked(since: state.blockedSince)
        return next
      }
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
    change { state in
      state.taken(settled.count, claim)
      if let request { state.note(claim, of: request, at: now, leasedAt: uptime) }
    }
  }
}

extension Deliverer: SenderOwner {
  public func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)]) {
    guard !answers.isEmpty else { return }
    let (now, wall) = (machine.now, queueClock.wall)
    change { state in
      for (token, answer) in answers {
        if answer != .unanswered, let sent = state.sent(token) { observer.answered(after: sent.duration(to: now)) }
        state.note(token, answer, at: now, wall: wall, jitter: { machine.randomFraction })
      }
    }
    send()
    state.change { $0.hasNews = true }
  }

  public func slowDown() {
    let now = machine.now
    change { $0.slowDown(at: now) }
  }

  public func restarted() { change { $0.noteRestart() } }

  public func notify(_ notice: String) { notify(notice) as Void }
}
