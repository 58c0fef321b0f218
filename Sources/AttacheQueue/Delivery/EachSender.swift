public import Attache
internal import Glibc

/// Sends each result with a new command, which reads the payload from its standard input. Its exit
/// status is the answer: 0 is ok, 75 is retry (EX_TEMPFAIL of sysexits.h), 126 and 127 are a
/// shell's statuses for a command that it cannot run, and any other status is final.
///
/// The command's environment has the result's number in `ATTACHE_ID` and the number of the attempt
/// in `ATTACHE_ATTEMPT`.
public final class EachSender: Sender {
  /// The command, and how long it may run.
  public struct Configuration: Sendable {
    /// The program, which is searched for in PATH, and its arguments. Not empty.
    public var words: [String]
    /// How long a command may take.
    public var answerTimeout = Duration.seconds(60)
    /// How long a command may take to end after SIGTERM.
    package var endTimeLimit = Duration.seconds(5)

    /// Creates a configuration of a program and its arguments.
    public init(_ words: [String]) {
      self.words = words
    }
  }

  private let configuration: Configuration
  private let wakeSignal: EventFD
  private let thread: SenderThread

  /// A running command.
  private struct Running {
    var delivery: Delivery
    var process: ChildProcess
    var unsent = UnsentBytes()
    var due: MonotonicInstant
    /// The last signal that was sent to it.
    var signal: Int32?
    var isCancelled = false
  }

  /// - Throws: ``SystemError`` when no descriptor is available.
  public init(_ configuration: Configuration) throws(SystemError) {
    self.configuration = configuration
    let wakeSignal = try EventFD()
    self.wakeSignal = wakeSignal
    thread = SenderThread { wakeSignal.ring() }
  }

  public func start(_ owner: any SenderOwner) throws {
    try thread.start { [self] in run(owner) }
  }

  public func send(_ deliveries: [Delivery]) { thread.send(deliveries) }
  public func cancel() { thread.cancel() }
  public func close() { thread.close() }

  private func run(_ owner: any SenderOwner) {
    var running: [Running] = []
    while true {
      let news = thread.take()
      var answers: [(token: LeaseToken, answer: DeliveryAnswer)] = []
      for delivery in news.deliveries {
        do throws(SystemError) {
          running.append(try launch(delivery))
        } catch {
          answers.append((delivery.token, .refused(reason: "the command cannot be started: \(error)")))
        }
      }
      if news.isCancelled {
        for index in running.indices where !running[index].isCancelled {
          answers.append((running[index].delivery.token, .unanswered))
          running[index].isCancelled = true
          stop(&running[index])
        }
      }
      for index in running.indices.reversed() {
        guard let answer = advance(&running[index]) else { continue }
        if !running[index].isCancelled { answers.append((running[index].delivery.token, answer)) }
        running.remove(at: index)
      }
      if !answers.isEmpty { owner.take(answers) }
      if news.isClosed, running.isEmpty { return }
      wait(running, owner)
    }
  }

  private func launch(_ delivery: Delivery) throws(SystemError) -> Running {
    let variables = ["ATTACHE_ID": "\(delivery.token.id)", "ATTACHE_ATTEMPT": "\(delivery.attempt)"]
    let process = try ChildProcess(.sender(configuration.words, variables: variables, output: .inherited))
    var running = Running(delivery: delivery, process: process, due: MonotonicInstant.now.advanced(by: configuration.answerTimeout))
    running.unsent.append { $0 += DeliveryText.body(delivery) + [UInt8(ascii: "\n")] }
    return running
  }

  private func stop(_ running: inout Running) {
    let signal = running.signal == nil ? SIGTERM : SIGKILL
    running.process.signal(signal)
    running.signal = signal
    running.due = MonotonicInstant.now.advanced(by: configuration.endTimeLimit)
  }

  /// Writes to a command, stops it when it is overdue, and checks whether it has ended.
  ///
  /// - Returns: the answer that its end means; nil while it runs.
  private func advance(_ running: inout Running) -> DeliveryAnswer? {
    let process = running.process
    // A command that does not read its input is no error: its arguments may be enough.
    if unsafe !running.unsent.flush({ unsafe process.write($0) }) || running.unsent.count == 0 { process.closeInput() }
    if running.process.end == nil, running.due <= .now { stop(&running) }
    guard let end = running.process.end else { return nil }
    if running.signal != nil {
      return .senderEnded(reason: "the command took more than \(configuration.answerTimeout / .seconds(1)) s (--answer-timeout)")
    }
    return switch end {
    case .status(0): .delivered()
    case .status(75): .retry(after: nil, reason: "status 75")
    // A shell's statuses for a command that it cannot run: the same would happen with every
    // payload.
    case .status(126): .refused(reason: "the command cannot be run (status 126); check its permissions")
    case .status(127): .refused(reason: "the command is not found (status 127); check its path")
    case .status(let status): .dropped(reason: "status \(status)")
    case .signal: .senderEnded(reason: "the command \(end.text)")
    }
  }

  private func wait(_ running: [Running], _ owner: any SenderOwner) {
    var requests = [pollfd(fd: wakeSignal.descriptor, events: Int16(POLLIN), revents: 0)]
    for command in running {
      requests.append(pollfd(fd: command.process.endDescriptor, events: Int16(POLLIN), revents: 0))
      if command.process.input >= 0 { requests.append(pollfd(fd: command.process.input, events: Int16(POLLOUT), revents: 0)) }
    }
    let timeout = running.map(\.due).min()?.pollTimeout ?? -1
    let count = unsafe poll(&requests, nfds_t(requests.count), timeout)
    if count > 0, requests[0].revents != 0 { wakeSignal.silence() }
    if count < 0, errno != EINTR { thread.pause(after: SystemError(call: "poll", number: errno), owner) }
  }
}
