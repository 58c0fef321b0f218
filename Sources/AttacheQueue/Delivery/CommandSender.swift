public import Attache

/// Sends results with a command that reads them from its standard input, one a line, and answers
/// each with a line (``SenderAnswer``).
///
/// The command keeps running. When it ends, or is stopped because of an invalid or missing answer,
/// another one is started after a pause that grows.
public final class CommandSender: Sender {
  /// The command, and how it exchanges results and answers.
  public struct Configuration: Sendable {
    /// The program, which is searched for in PATH, and its arguments. Not empty.
    public var words: [String]
    /// Whether each line is an object with the result's number. Answers then name that number, in
    /// any order.
    public var usesEnvelopes = false
    /// How long an answer may take.
    public var answerTimeout = Duration.seconds(60)
    /// The pause after a command that gave no answer. It doubles up to
    /// ``CommandSender/longestPause``.
    package var pause = Duration.milliseconds(100)
    /// How long a command may take to end after its input is closed, and again after SIGTERM.
    package var endTimeLimit = Duration.seconds(5)

    /// Creates a configuration of a program and its arguments.
    public init(_ words: [String]) {
      self.words = words
    }
  }

  /// The longest pause before a command is started again.
  public static let longestPause = Duration.seconds(60)

  private let configuration: Configuration
  private let wakeSignal: EventFD
  private let thread: SenderThread

  /// - Throws: ``SystemError`` when no descriptor is available.
  public init(_ configuration: Configuration) throws(SystemError) {
    self.configuration = configuration
    let wakeSignal = try EventFD()
    self.wakeSignal = wakeSignal
    thread = SenderThread { wakeSignal.ring() }
  }

  public func start(_ owner: any SenderOwner) throws {
    let first = try CommandChild(configuration)
    let loop = CommandLoop(configuration, first, thread, wakeSignal, owner)
    do { try thread.start { loop.run() } } catch {
      _ = first.stop()
      throw error
    }
  }

  public func send(_ deliveries: [Delivery]) { thread.send(deliveries) }
  public func drain() { thread.drain() }
  public func cancel() { thread.cancel() }
  public func close() { thread.close() }
}
