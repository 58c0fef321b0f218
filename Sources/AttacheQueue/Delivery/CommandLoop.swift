internal import Attache
internal import Glibc

/// The loop of a ``CommandSender``. One thread uses it.
final class CommandLoop: @unchecked Sendable {
  private let configuration: CommandSender.Configuration
  private let thread: SenderThread
  private let wakeSignal: EventFD
  private let owner: any SenderOwner
  private var child: CommandChild?
  /// Results that were not given to a command.
  private var pending: [Delivery] = []
  private var restartAt = MonotonicInstant.distantPast
  private var pause: GrowingPause
  private var isCancelled = false
  private var isClosed = false

  init(
    _ configuration: CommandSender.Configuration, _ child: CommandChild, _ thread: SenderThread, _ wakeSignal: EventFD,
    _ owner: any SenderOwner
  ) {
    (self.configuration, self.child, self.thread, self.wakeSignal, self.owner) = (configuration, child, thread, wakeSignal, owner)
    pause = GrowingPause(first: configuration.pause, longest: CommandSender.longestPause)
  }

  func run() {
    while true {
      let news = thread.take()
      pending += news.deliveries
      isClosed = isClosed || news.isClosed
      if news.isCancelled { cancel() }
      if isClosed { break }
      if news.isDraining, child == nil { giveBackPending() }
      startIfDue()
      if let child, !pending.isEmpty {
        child.give(pending)
        pending = []
      }
      child?.write()
      wait()
      take()
    }
    child?.finish()
  }

  /// Answers all unanswered results as `unanswered`.
  private func cancel() {
    isCancelled = true
    if let child { owner.take(child.read().answers) }
    let unanswered = (child?.unanswered ?? []) + pending
    pending = []
    owner.take(unanswered.map { ($0.token, .unanswered) })
    child?.stop()
    child = nil
  }

  /// Gives back the results that were not given to a command.
  private func giveBackPending() {
    guard !pending.isEmpty else { return }
    let rest = pending
    pending = []
    owner.take(rest.map { ($0.token, .unanswered) })
  }

  /// Starts a command when there are results for it, and the pause is over.
  private func startIfDue() {
    guard child == nil, !isCancelled, !pending.isEmpty, restartAt <= .now else { return }
    do throws(SystemError) {
      child = try CommandChild(configuration)
      owner.restarted()
    } catch {
      let refused = pending
      pending = []
      // The deliverer pauses before it tries again.
      owner.take(refused.map { ($0.token, .refused(reason: "the sender cannot be started: \(error)")) })
    }
  }

  private func wait() {
    var requests = [pollfd(fd: wakeSignal.descriptor, events: Int16(POLLIN), revents: 0)]
    var until: MonotonicInstant?
    if let child {
      requests += child.requests
      until = child.due
    } else if !pending.isEmpty {
      until = restartAt
    }
    let timeout = until.map(\.pollTimeout) ?? -1
    let count = unsafe poll(&requests, nfds_t(requests.count), timeout)
    if count < 0, errno != EINTR { thread.pause(after: SystemError(call: "poll", number: errno), owner) }
    guard count > 0 else { return }
    if requests[0].revents != 0 { wakeSignal.silence() }
  }

  /// Handles the answers that have arrived, and the end of the command.
  private func take() {
    guard let child else { return }
    let (answers, end) = child.read()
    if !answers.isEmpty {
      pause.reset()
      owner.take(answers)
    }
    guard let end else { return }
    self.child = nil
    let unanswered = child.unanswered
    restartAt = MonotonicInstant.now.advanced(by: pause.next())
    let rest =
      unanswered.isEmpty ? "" : "; \(unanswered.count) result\(unanswered.count == 1 ? " is" : "s are") unanswered and will be sent again"
    owner.notify("the sender \(end.text)\(rest)")
    // The end of a command with status 0 is not counted against its unanswered results.
    owner.take(unanswered.map { ($0.token, end.isOrderly ? .unanswered : .senderEnded(reason: "the sender \(end.text)")) })
  }
}
