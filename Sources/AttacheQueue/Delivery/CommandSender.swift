public import Attache
internal import Synchronization

/// Sends results by a command that reads them from its standard input, one a line, and answers each
/// with a line (``SenderAnswer``).
///
/// The command runs on. When it ends, or is stopped since it says what is no answer or nothing at
/// all, another one is started after a growing pause.
public final class CommandSender: Sender {
  public struct Configuration: Sendable {
    /// The program, which is looked for on PATH, and its arguments; not empty.
    public var words: [String]
    /// Whether each line is an object with the result's number, and answers name that number, in
    /// any order.
    public var usesEnvelopes = false
    /// How long an answer may take.
    public var answerTimeout = Duration.seconds(60)
    /// The pause after a command that gave no answer; it doubles up to
    /// ``CommandSender/longestPause``.
    package var pause = Duration.milliseconds(100)
    /// How long a command may take to end once its input is at its end, and once more after
    /// SIGTERM.
    package var patience = Duration.seconds(5)

    public init(_ words: [String]) {
      self.words = words
    }
  }

  public static let longestPause = Duration.seconds(60)

  private let configuration: Configuration
  private let wakeSignal: EventFD
  private let inbox = Mutex(Inbox())
  private let thread = Mutex<(any StartedThread)?>(nil)

  /// What other threads ask for.
  struct Inbox {
    var deliveries: [Delivery] = []
    var isDraining = false
    var isCancelled = false
    var isClosed = false
  }

  /// - Throws: ``SystemError`` when the system gives no descriptor.
  public init(_ configuration: Configuration) throws(SystemError) {
    self.configuration = configuration
    wakeSignal = try EventFD()
  }

  public func start(_ owner: any SenderOwner) throws {
    let first = try CommandChild(configuration)
    let loop = CommandLoop(configuration, first, wakeSignal, owner) { [self] in
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
    wakeSignal.ring()
  }

  public func drain() {
    inbox.withLock { $0.isDraining = true }
    wakeSignal.ring()
  }

  public func cancel() {
    inbox.withLock { $0.isCancelled = true }
    wakeSignal.ring()
  }

  public func close() {
    inbox.withLock { $0.isClosed = true }
    wakeSignal.ring()
    thread.withLock { $0.take() }?.join()
  }
}
