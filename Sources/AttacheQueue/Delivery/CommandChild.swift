internal import Attache
internal import Glibc

/// A running command, and the results that it was given.
final class CommandChild {
  /// How a command ended.
  struct End {
    var text: String
    /// Whether it ended on its own with status 0.
    var isOrderly: Bool
  }

  private struct Given {
    var delivery: Delivery
    var since: MonotonicInstant
  }

  private let configuration: CommandSender.Configuration
  private let process: ChildProcess
  private let json = JSONCheck()
  private let reader = DeliveryReader()
  private var unsent = UnsentBytes()
  /// Unanswered results, in the order given. Answered results are nil; the first entry that is not
  /// nil is at ``firstGiven``.
  private var given: [Given?] = []
  private var firstGiven = 0
  /// The index in ``given`` plus ``forgotten`` of each result, by number. ``forgotten`` is the
  /// number of entries removed from the start of ``given``.
  private var places: [Int64: Int] = [:]
  private var forgotten = 0
  private var answeredAt = MonotonicInstant.distantPast
  /// Received bytes of an incomplete line.
  private var line: [UInt8] = []
  private var lines = 0
  /// Results that are answered at once, without the command.
  private var unfit: [(token: LeaseToken, answer: DeliveryAnswer)] = []

  init(_ configuration: CommandSender.Configuration) throws(SystemError) {
    self.configuration = configuration
    process = try ChildProcess(.sender(configuration.words, output: .pipe))
  }

  /// The number of answered results that are removed at a time.
  private static let forgettingResults = 1_024

  /// Results that the command was given and has not answered.
  var unanswered: [Delivery] { given[firstGiven...].compactMap { $0?.delivery } }

  func give(_ deliveries: [Delivery]) {
    let now = MonotonicInstant.now
    for delivery in deliveries {
      if configuration.usesEnvelopes {
        unsent.append { $0 += DeliveryText.envelope(delivery, json) }
        // The same result under a later lease: in the meantime another deliverer held it and gave
        // it back.
        if let earlier = places.removeValue(forKey: delivery.token.id), let token = forget(at: earlier - forgotten) {
          unfit.append((token, .unanswered))
        }
        places[delivery.token.id] = forgotten + given.count
      } else if let line = DeliveryText.line(delivery) {
        unsent.append { $0 += line }
      } else {
        unfit.append((delivery.token, .dropped(reason: "it contains line feeds, which only --envelope and --each can send")))
        continue
      }
      given.append(Given(delivery: delivery, since: now))
    }
  }

  func write() {
    guard unsafe !unsent.flush({ unsafe process.write($0) }) else { return }
    // The command reads no more, but may still answer.
    process.closeInput()
    unsent = UnsentBytes()
  }

  var requests: [pollfd] {
    var requests = [
      pollfd(fd: process.output, events: Int16(POLLIN), revents: 0), pollfd(fd: process.endDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    if unsent.count > 0 { requests.append(pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0)) }
    return requests
  }

  /// When the next answer is overdue; nil while none is expected.
  var due: MonotonicInstant? {
    if !unfit.isEmpty { return .now }
    guard firstGiven < given.count, let first = given[firstGiven] else { return nil }
    // Without envelopes, answers arrive in order: the time for the next answer starts at the
    // previous one.
    return max(first.since, configuration.usesEnvelopes ? first.since : answeredAt).advanced(by: configuration.answerTimeout)
  }

  /// Reads the answers that have arrived.
  func read() -> (answers: [(token: LeaseToken, answer: DeliveryAnswer)], end: End?) {
    var answers = unfit
    unfit = []
    while true {
      // Checked before reading, so that output from before the end is read.
      let end = process.end
      guard let bytes = process.read() else { break }
      if bytes.isEmpty {
        if let end { return (answers, orderly(end)) }
        if let due, due <= .now {
          stop()
          let seconds = configuration.answerTimeout / .seconds(1)
          return (answers, End(text: "gave no answer within \(seconds) s (--answer-timeout) and was stopped", isOrderly: false))
        }
        return (answers, nil)
      }
      if let fault = take(bytes, &answers) {
        stop()
        return (answers, End(text: fault + "; it was stopped", isOrderly: false))
      }
    }
    // The output is closed: the process has ended, or is about to.
    process.closeInput()
    if hasEnded(within: .milliseconds(100)), let end = process.end { return (answers, orderly(end)) }
    stop()
    return (answers, End(text: "closed its output and was stopped", isOrderly: false))
  }

  private func orderly(_ end: ProcessEnd) -> End {
    End(text: end.text, isOrderly: end == .status(0))
  }

  /// Parses answers from received bytes.
  ///
  /// - Returns: what is wrong with the bytes; nil when they are valid.
  private func take(_ bytes: [UInt8], _ answers: inout [(token: LeaseToken, answer: DeliveryAnswer)]) -> String? {
    line += bytes
    answeredAt = .now
    var start = 0
    defer { line.removeFirst(start) }
    while let end = line[start...].firstIndex(of: UInt8(ascii: "\n")) {
      lines += 1
      guard end - start <= SenderAnswer.maximumLength else { return Self.tooLong }
      let text = line[start..<end]
      start = end + 1
      if let fault = take(text, &answers) { return "wrote an invalid answer in line \(lines): \(SenderAnswer.excerpt(text))\(fault)" }
    }
    return line.count - start <= SenderAnswer.maximumLength ? nil : Self.tooLong
  }

  private static let tooLong = "wrote a line of more than \(SenderAnswer.maximumLength) bytes"

  private func take(_ text: ArraySlice<UInt8>, _ answers: inout [(token: LeaseToken, answer: DeliveryAnswer)]) -> String? {
    if configuration.usesEnvelopes {
      guard let (id, answer) = SenderAnswer.readObject(Array(text), reader) else {
        return #"; with --envelope, an answer is {"id":N,"answer":"ok"}, "retry 30s" or "drop REASON""#
      }
      guard let place = places.removeValue(forKey: id), let token = forget(at: place - forgotten) else {
        return "; it has no unanswered result with the id \(id)"
      }
      answers.append((token, answer))
    } else {
      guard let answer = SenderAnswer.read(text) else { return "; an answer is ok, retry 30s or drop REASON" }
      guard let token = forget(at: firstGiven) else { return "; it had already answered every result" }
      answers.append((token, answer))
    }
    return nil
  }

  /// Removes the result at an index of ``given``.
  ///
  /// - Returns: its lease; nil when there is no unanswered result at the index.
  private func forget(at place: Int) -> LeaseToken? {
    guard place < given.count, let token = given[place]?.delivery.token else { return nil }
    given[place] = nil
    while firstGiven < given.count, given[firstGiven] == nil { firstGiven += 1 }
    if firstGiven == given.count || firstGiven >= Self.forgettingResults && firstGiven * 2 >= given.count {
      given.removeFirst(firstGiven)
      forgotten += firstGiven
      firstGiven = 0
    }
    return token
  }

  /// Ends the command: closes its input, sends SIGTERM after a while, and SIGKILL after another.
  func finish() {
    process.closeInput()
    for signal in [SIGTERM, SIGKILL] {
      if hasEnded(within: configuration.endTimeLimit) { return }
      guard process.signal(signal) else { return }
    }
    process.wait()
  }

  /// Ends the command with SIGTERM, or with SIGKILL when it does not react.
  @discardableResult
  func stop() -> ProcessEnd {
    process.closeInput()
    if process.end == nil {
      process.signal(SIGTERM)
      // The system refuses to signal a command that runs as another user.
      if !hasEnded(within: configuration.endTimeLimit), !process.signal(SIGKILL) { return .signal(SIGKILL) }
    }
    return process.wait()
  }

  /// Waits for the end, and reads output in the meantime, so that a blocked write does not keep the
  /// command from ending.
  private func hasEnded(within span: Duration) -> Bool {
    let until = MonotonicInstant.now.advanced(by: span)
    var readsOutput = true
    while process.end == nil {
      guard .now < until else { return false }
      var requests = [pollfd(fd: process.endDescriptor, events: Int16(POLLIN), revents: 0)]
      if readsOutput { requests.append(pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)) }
      _ = unsafe poll(&requests, nfds_t(requests.count), until.pollTimeout)
      if readsOutput, process.read() == nil { readsOutput = false }
    }
    return true
  }
}
