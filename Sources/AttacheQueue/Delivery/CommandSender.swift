public import Attache
internal import Glibc
internal import Synchronization

/// Sends results by a command that reads them from its standard input, one a line, and answers each with a line (``SenderAnswer``).
///
/// The command runs on. When it ends, or is stopped since it says what is no answer or nothing at all, another one is started after a growing pause.
public final class CommandSender: Sender {
  public struct Configuration: Sendable {
    /// The program, which is looked for on PATH, and its arguments; not empty.
    public var words: [String]
    /// Whether each line is an object with the result's number, and answers name that number, in any order.
    public var usesEnvelopes = false
    /// How long an answer may take.
    public var answerTimeout = Duration.seconds(60)
    /// The pause after a command that gave no answer; it doubles up to ``CommandSender/longestPause``.
    package var pause = Duration.milliseconds(100)
    /// How long a command may take to end once its input is at its end, and once more after SIGTERM.
    package var patience = Duration.seconds(5)

    public init(_ words: [String]) {
      self.words = words
    }
  }

  public static let longestPause = Duration.seconds(60)

  private let configuration: Configuration
  private let bell: EventFD
  private let inbox = Mutex(Inbox())
  private let thread = Mutex<(any StartedThread)?>(nil)

  /// What other threads ask for.
  fileprivate struct Inbox {
    var deliveries: [Delivery] = []
    var isDraining = false
    var isCancelled = false
    var isClosed = false
  }

  /// - Throws: ``SystemError`` when the system gives no descriptor.
  public init(_ configuration: Configuration) throws(SystemError) {
    self.configuration = configuration
    bell = try EventFD()
  }

  public func start(_ owner: any SenderOwner) throws {
    let first = try CommandChild(configuration)
    let loop = CommandLoop(configuration, first, bell, owner) { [self] in
      inbox.withLock { inbox in
        defer { inbox.deliveries = [] }
        return inbox
      }
    }
    let started = try SystemMachine().start("sender") { loop.run() }
    thread.withLock { $0 = started }
  }

  public func send(_ deliveries: [Delivery]) {
    inbox.withLock { $0.deliveries += deliveries }
    bell.ring()
  }

  public func drain() {
    inbox.withLock { $0.isDraining = true }
    bell.ring()
  }

  public func cancel() {
    inbox.withLock { $0.isCancelled = true }
    bell.ring()
  }

  public func close() {
    inbox.withLock { $0.isClosed = true }
    bell.ring()
    thread.withLock { $0.take() }?.join()
  }
}

/// The loop of a ``CommandSender``; one thread has it.
private final class CommandLoop: @unchecked Sendable {
  private let configuration: CommandSender.Configuration
  private let bell: EventFD
  private let owner: any SenderOwner
  private let takeInbox: () -> CommandSender.Inbox
  private var child: CommandChild?
  /// Results that no command was given.
  private var pending: [Delivery] = []
  private var restartAt = MonotonicInstant.distantPast
  private var pauses = 0
  private var isCancelled = false
  private var isClosed = false

  init(
    _ configuration: CommandSender.Configuration, _ child: CommandChild, _ bell: EventFD, _ owner: any SenderOwner,
    takeInbox: @escaping () -> CommandSender.Inbox
  ) {
    (self.configuration, self.child, self.bell, self.owner, self.takeInbox) = (configuration, child, bell, owner, takeInbox)
  }

  func run() {
    while true {
      let news = takeInbox()
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

  /// Gives up what is unanswered.
  private func cancel() {
    isCancelled = true
    if let child { owner.take(child.read().answers) }
    let unanswered = (child?.unanswered ?? []) + pending
    pending = []
    owner.take(unanswered.map { ($0.token, .unanswered) })
    child?.stop()
    child = nil
  }

  /// Gives back what no command was given.
  private func giveBackPending() {
    guard !pending.isEmpty else { return }
    let rest = pending
    pending = []
    owner.take(rest.map { ($0.token, .unanswered) })
  }

  /// Starts a command once there is something for it, and the pause is over.
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
    var requests = [pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)]
    var until: MonotonicInstant?
    if let child {
      requests += child.requests
      until = child.due
    } else if !pending.isEmpty {
      until = restartAt
    }
    let timeout = until.map(\.pollTimeout) ?? -1
    guard unsafe poll(&requests, nfds_t(requests.count), timeout) > 0 else { return }
    if requests[0].revents != 0 { bell.silence() }
  }

  /// Takes the answers that have come, and notes whether the command has come to its end.
  private func take() {
    guard let child else { return }
    let (answers, end) = child.read()
    if !answers.isEmpty {
      pauses = 0
      owner.take(answers)
    }
    guard let end else { return }
    self.child = nil
    let unanswered = child.unanswered
    let pause = min(CommandSender.longestPause, configuration.pause * (1 << min(pauses, 16)))
    pauses += 1
    restartAt = MonotonicInstant.now.advanced(by: pause)
    let rest =
      unanswered.isEmpty ? "" : "; \(unanswered.count) result\(unanswered.count == 1 ? " is" : "s are") unanswered and will be sent again"
    owner.tell("the sender \(end.text)\(rest)")
    // One that ends in good order is not the fault of what it has not answered.
    owner.take(unanswered.map { ($0.token, end.isOrderly ? .unanswered : .senderEnded(reason: "the sender \(end.text)")) })
  }
}

/// A command that runs, and what it was given.
private final class CommandChild {
  /// Why a command is at its end.
  struct End {
    var text: String
    /// Whether it ended by itself with status 0.
    var isOrderly: Bool
  }

  private struct Given {
    var delivery: Delivery
    var since: MonotonicInstant
  }

  private let configuration: CommandSender.Configuration
  private let process: ChildProcess
  private let json = JSONCheck()
  /// Bytes on their way to the command, from ``written`` on.
  private var text: [UInt8] = []
  private var written = 0
  /// What is unanswered, in the order given: by the numbers from ``firstGiven`` on, the first answered ones nil.
  private var given: [Given?] = []
  private var firstGiven = 0
  /// By the result's number, the place in ``given``, and how many places were forgotten before it.
  private var places: [Int64: Int] = [:]
  private var forgotten = 0
  private var answeredAt = MonotonicInstant.distantPast
  /// What came and is no whole line yet.
  private var line: [UInt8] = []
  private var lines = 0
  /// Results whose text is no line, which are answered at once.
  private var unfit: [(token: LeaseToken, answer: DeliveryAnswer)] = []

  init(_ configuration: CommandSender.Configuration) throws(SystemError) {
    self.configuration = configuration
    process = try ChildProcess(configuration.words, readsOutput: true)
  }

  /// Bytes that are forgotten at a time once they are written.
  private static let forgetting = 65_536
  /// Answered results that are forgotten at a time.
  private static let forgettingResults = 1_024

  /// What it was given and has not answered.
  var unanswered: [Delivery] { given[firstGiven...].compactMap { $0?.delivery } }

  func give(_ deliveries: [Delivery]) {
    let now = MonotonicInstant.now
    for delivery in deliveries {
      if configuration.usesEnvelopes {
        text += DeliveryText.envelope(delivery, json)
        // The same result under a later lease: whoever had it meanwhile gave it back.
        if let earlier = places[delivery.token.id].map({ $0 - forgotten }), let token = given[earlier]?.delivery.token {
          given[earlier] = nil
          unfit.append((token, .unanswered))
        }
        places[delivery.token.id] = forgotten + given.count
      } else if let line = DeliveryText.line(delivery) {
        text += line
      } else {
        unfit.append((delivery.token, .dropped(reason: "it has line feeds within, which only --envelope and --each carry")))
        continue
      }
      given.append(Given(delivery: delivery, since: now))
    }
  }

  func write() {
    while written < text.count {
      guard let count = unsafe text.withUnsafeBytes({ unsafe process.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }) else {
        // It reads no more, and may still answer.
        process.closeInput()
        break
      }
      written += count
      // What is written is forgotten although there is always more.
      if written >= Self.forgetting, written * 2 >= text.count {
        text.removeFirst(written)
        written = 0
      }
      guard count > 0 else { return }
    }
    text.removeAll(keepingCapacity: true)
    written = 0
  }

  var requests: [pollfd] {
    var requests = [
      pollfd(fd: process.output, events: Int16(POLLIN), revents: 0), pollfd(fd: process.endDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    if written < text.count { requests.append(pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0)) }
    return requests
  }

  /// When the first answer is overdue; nil while none is owed.
  var due: MonotonicInstant? {
    if !unfit.isEmpty { return .now }
    guard firstGiven < given.count, let first = given[firstGiven] else { return nil }
    // One answer after another: the first is owed from the last one on.
    return max(first.since, configuration.usesEnvelopes ? first.since : answeredAt).advanced(by: configuration.answerTimeout)
  }

  /// Takes what has come.
  func read() -> (answers: [(token: LeaseToken, answer: DeliveryAnswer)], end: End?) {
    var answers = unfit
    unfit = []
    while true {
      // Asked first: what it wrote before its end is there to be read.
      let end = process.reap()
      guard let bytes = process.read() else { break }
      if bytes.isEmpty {
        if let end { return (answers, orderly(end)) }
        if let due, due <= .now {
          stop()
          let seconds = configuration.answerTimeout / .seconds(1)
          return (answers, End(text: "gave no answer for \(seconds) s (--answer-timeout) and was stopped", isOrderly: false))
        }
        return (answers, nil)
      }
      if let fault = take(bytes, &answers) {
        stop()
        return (answers, End(text: fault + "; it was stopped", isOrderly: false))
      }
    }
    // Its output is at its end: it has ended, or is about to.
    process.closeInput()
    if hasEnded(within: .milliseconds(100)), let end = process.reap() { return (answers, orderly(end)) }
    stop()
    return (answers, End(text: "closed its output and was stopped", isOrderly: false))
  }

  private func orderly(_ end: ChildProcess.End) -> End {
    End(text: end.text, isOrderly: end == .exited(status: 0))
  }

  /// Takes answers out of what came.
  ///
  /// - Returns: what is wrong with it; nil when nothing is.
  private func take(_ bytes: [UInt8], _ answers: inout [(token: LeaseToken, answer: DeliveryAnswer)]) -> String? {
    line += bytes
    answeredAt = .now
    var start = 0
    defer { line.removeFirst(start) }
    while let end = line[start...].firstIndex(of: UInt8(ascii: "\n")) {
      lines += 1
      let text = line[start..<end]
      start = end + 1
      if let fault = take(text, &answers) { return "wrote in line \(lines) what is no answer: \(SenderAnswer.excerpt(text))\(fault)" }
    }
    guard line.count - start <= SenderAnswer.maximumLength else { return "wrote a line of more than \(SenderAnswer.maximumLength) bytes" }
    return nil
  }

  private func take(_ text: ArraySlice<UInt8>, _ answers: inout [(token: LeaseToken, answer: DeliveryAnswer)]) -> String? {
    if configuration.usesEnvelopes {
      guard let (id, answer) = SenderAnswer.readObject(text) else {
        return #"; with --envelope, answers are {"id":N,"answer":"ok"}, "retry 30s" or "drop REASON""#
      }
      guard let place = places.removeValue(forKey: id).map({ $0 - forgotten }), let token = given[place]?.delivery.token else {
        return "; it has no unanswered result \(id)"
      }
      given[place] = nil
      answers.append((token, answer))
    } else {
      guard let answer = SenderAnswer.read(text) else { return "; answers are ok, retry 30s and drop REASON" }
      guard firstGiven < given.count, let token = given[firstGiven]?.delivery.token else { return "; every result was answered already" }
      given[firstGiven] = nil
      answers.append((token, answer))
    }
    while firstGiven < given.count, given[firstGiven] == nil { firstGiven += 1 }
    if firstGiven == given.count || firstGiven >= Self.forgettingResults && firstGiven * 2 >= given.count {
      given.removeFirst(firstGiven)
      forgotten += firstGiven
      firstGiven = 0
    }
    return nil
  }

  /// Ends the command: its input is at its end, and it has a while before SIGTERM, and another before SIGKILL.
  func finish() {
    process.closeInput()
    for signal in [SIGTERM, SIGKILL] {
      if hasEnded(within: configuration.patience) { return }
      guard process.signal(signal) else { return }
    }
    process.reap(waits: true)
  }

  /// Ends the command by SIGTERM, or by SIGKILL where it does not care.
  @discardableResult
  func stop() -> ChildProcess.End {
    process.closeInput()
    if process.reap() == nil {
      process.signal(SIGTERM)
      // One that runs as another user may not be ended by us.
      if !hasEnded(within: configuration.patience), !process.signal(SIGKILL) { return .killed(signal: SIGKILL) }
    }
    return process.reap(waits: true) ?? .exited(status: 0)
  }

  /// Waits for the end, and reads what comes meanwhile, so that no writer is kept from ending.
  private func hasEnded(within span: Duration) -> Bool {
    let until = MonotonicInstant.now.advanced(by: span)
    var readsOutput = true
    while process.reap() == nil {
      guard .now < until else { return false }
      var requests = [pollfd(fd: process.endDescriptor, events: Int16(POLLIN), revents: 0)]
      if readsOutput { requests.append(pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)) }
      _ = unsafe poll(&requests, nfds_t(requests.count), until.pollTimeout)
      if readsOutput, process.read() == nil { readsOutput = false }
    }
    return true
  }
}
