package import Attache
internal import Synchronization

/// Delivers the results of a queue: leases them, has a sender send them, and notes in the queue what the sender answers.
///
/// One thread gives results to the sender and talks to the queue; another renews the leases. A result that was sent is sent again only where its answer did
/// not reach the queue.
public final class Deliverer: Sendable {
  private let queue: any PayloadQueue
  private let sender: any Sender
  private let configuration: DelivererConfiguration
  private let queueClock: any QueueClock
  private let observer: any DelivererObserver
  private let tell: @Sendable (String) -> Void
  private let machine: any Machine
  private let bell: any Bell
  private let renewer: LeaseRenewer
  private let inbox = Mutex(Inbox())
  private let leases = Mutex(Leases())

  /// What other threads have brought.
  private struct Inbox {
    var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
    var restarts = 0
    var isStopped = false
    var isCancelled = false
    var failure: QueueError?
  }

  /// What the renewing thread sees of the state.
  private struct Leases {
    var state: DelivererState?
  }

  /// - Parameters:
  ///   - queue: stays the caller's, who closes it after the run.
  ///   - queueClock: the queue's: leases and expiries are measured by it.
  ///   - tell: receives what the user should know, one line each, on any thread.
  /// - Throws: ``SystemError`` when the system gives no descriptor.
  package init(
    _ configuration: DelivererConfiguration, queue: any PayloadQueue, sender: any Sender, queueClock: any QueueClock = SystemQueueClock(),
    observer: any DelivererObserver, machine: any Machine = SystemMachine(), tell: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    self.configuration = configuration
    self.queue = queue
    self.sender = sender
    self.queueClock = queueClock
    self.observer = observer
    self.machine = machine
    self.tell = tell
    bell = try machine.makeBell()
    renewer = try LeaseRenewer(span: configuration.leaseSpan, clock: queueClock, machine: machine) { leases, span throws(QueueError) in
      _ = try queue.renewDeliveries(leases, for: span)
    }
  }

  /// Sends nothing more; answers are waited for, at most as long as one may take. Safe from any thread.
  public func stop() {
    inbox.withLock { $0.isStopped = true }
    bell.ring()
  }

  /// Sends nothing more, and waits for no answer. Safe from any thread.
  public func cancel() {
    inbox.withLock { inbox in
      inbox.isStopped = true
      inbox.isCancelled = true
    }
    bell.ring()
  }

  /// Delivers until every result is delivered (``DelivererConfiguration/isOnce``) or ``stop()``.
  ///
  /// - Throws: ``DelivererError``; what was unanswered is sent again by whoever comes next.
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
      var result = try deliver()
      result.elapsed = start.duration(to: machine.now)
      let counts = try queue.counts()
      result.isWorkLeft = counts.undecided > 0 || counts.unread > 0
      return result
    } catch {
      throw .queue(error)
    }
  }

  private func deliver() throws(QueueError) -> DelivererResult {
    let renewing: any StartedThread
    do throws(SystemError) {
      renewing = try machine.start("renew") { [self] in
        renewer.run(
          due: { before in leases.withLock { $0.state?.renewals(before: before) ?? [] } },
          renewed: { tokens, now in leases.withLock { $0.state?.renewed(tokens, at: now) } },
          failed: { error in
            inbox.withLock { $0.failure = error }
            bell.ring()
          })
      }
    } catch {
      throw .failed("the system refuses: \(error)")
    }
    defer {
      renewer.finish()
      renewing.join()
    }
    leases.withLock { $0.state = DelivererState(configuration) }
    let holds = try ReleasedHolds(of: queue)
    holds.onFailure = { [tell] path, error in
      tell("\(PrintableText.of(path)): \(error.call): \(error); what it holds stays in the store until a worker starts")
    }
    var isStopped = false
    var isCancelled = false
    // When the queue is asked again that could not be written.
    var retryAt: MonotonicInstant?
    while true {
      let news = inbox.withLock { inbox in
        let news = inbox
        inbox.answers.removeAll(keepingCapacity: true)
        inbox.restarts = 0
        return news
      }
      if let failure = news.failure {
        sender.cancel()
        throw failure
      }
      note(news)
      if news.isStopped, !isStopped {
        isStopped = true
        // What the queue does not take now, it is not waited for.
        retryAt = nil
        sender.drain()
      }
      send()
      if retryAt.map({ $0 <= machine.now }) ?? true {
        do throws(QueueError) {
          try exchange(holds)
          if retryAt != nil { endPause() }
          retryAt = nil
        } catch {
          // A deliverer that is stopped leaves to the next one what the queue does not take.
          guard let fault = MachineFault(error), change({ $0.stoppedAt }) == nil else {
            sender.cancel()
            throw error
          }
          retryAt = pause(fault.text)
        }
      }
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
      if inbox.withLock({ $0.answers.isEmpty && $0.failure == nil }) {
        bell.wait(until: isCancelled ? retryAt : [wakeUp, retryAt].compactMap(\.self).min())
      }
    }
  }

  private func change<Value>(_ body: (inout DelivererState) -> Value) -> Value {
    leases.withLock { leases in
      var state = leases.state ?? DelivererState(configuration)
      leases.state = nil
      defer { leases.state = state }
      return body(&state)
    }
  }

  /// Takes what other threads have brought.
  private func note(_ news: Inbox) {
    let (now, wall) = (machine.now, queueClock.wall)
    let (before, after) = change { state in
      let before = (state.result, state.pause?.why)
      for _ in 0..<news.restarts { state.noteRestart() }
      for (token, answer) in news.answers { state.note(token, answer, at: now, wall: wall, jitter: machine.randomFraction) }
      if news.isStopped { state.stop(at: now) }
      return (before, (state.result, state.pause?.why))
    }
    report(before.0, after.0)
    notePause(before.1, after.1)
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

  /// - Returns: when the pause is over.
  private func pause(_ why: String) -> MonotonicInstant {
    let now = machine.now
    let (before, after) = change { state in
      let before = state.pause
      state.pause(why, isOfMachine: true, at: now)
      return (before, state.pause)
    }
    notePause(before?.why, after?.why)
    return after?.until ?? now
  }

  private func endPause() {
    let before = change { state in
      defer { state.endPause() }
      return state.pause?.why
    }
    notePause(before, nil)
  }

  private func notePause(_ before: String?, _ after: String?) {
    guard before != after else { return }
    observer.paused(after)
    if let after { tell("paused: \(after); no result is lost, and the deliverer tries again") } else { tell("the deliverer goes on") }
  }

  private func send() {
    let (now, wall) = (machine.now, queueClock.wall)
    let (deliveries, count, blocked, before, after) = change { state in
      let before = state.result
      return (state.next(at: now, wall: wall), state.unansweredCount, state.blockedSince, before, state.result)
    }
    report(before, after)
    observer.unanswered(count)
    observer.blocked(since: blocked)
    if !deliveries.isEmpty { sender.send(deliveries) }
  }

  /// Tells the queue what became of results, and asks it for further ones.
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

}

extension Deliverer: SenderOwner {
  public func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)]) {
    guard !answers.isEmpty else { return }
    inbox.withLock { $0.answers += answers }
    bell.ring()
  }

  public func tell(_ notice: String) {
    tell(notice) as Void
  }

  public func restarted() {
    inbox.withLock { $0.restarts += 1 }
    bell.ring()
  }
}

/// Why a deliverer's run ended early.
public enum DelivererError: Error, Hashable, Sendable {
  case queue(QueueError)
  /// The sender cannot begin; one line says why.
  case sender(String)
}
