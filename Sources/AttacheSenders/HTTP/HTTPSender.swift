public import AttacheQueue
internal import Attache
internal import Synchronization

/// Sends results by HTTP: each is the body of a POST to one URL, and the status says what became of
/// it.
///
/// The endpoint is the operator's own, so no address gate judges it. Redirects are not followed: a
/// POST that is repeated elsewhere is no acknowledgement.
public final class HTTPSender: Sender {
  public struct Configuration: Sendable {
    /// `http://` or `https://`.
    public var url: String
    /// Header fields beside `Content-Type: application/json`, as `Name: value`; one of that name
    /// replaces it.
    public var fields: [String] = []
    /// A file with a token for `Authorization: Bearer`; it is read again when it has changed.
    public var bearerFile: String?
    /// A file of root certificates in PEM form; nil is the system's.
    public var rootCertificates: String?
    /// How long an answer may take.
    public var answerTimeout = Duration.seconds(60)
    /// Connections at most; over HTTP/2, requests share one.
    public var connections = 64

    public init(url: String) {
      self.url = url
    }
  }

  private let configuration: Configuration
  private let multi: HTTPMulti
  private let inbox = Mutex(Inbox())
  private let thread = Mutex<(any StartedThread)?>(nil)

  private struct Inbox {
    var deliveries: [Delivery] = []
    var isCancelled = false
    var isClosed = false
  }

  /// - Throws: ``HTTPSenderError`` when libcurl refuses what the configuration says.
  public init(_ configuration: Configuration) throws(HTTPSenderError) {
    self.configuration = configuration
    multi = try HTTPMulti(configuration)
  }

  public func start(_ owner: any SenderOwner) throws {
    _ = try multi.token()
    let started = try SystemMachine().start("sender") { [self] in run(owner) }
    thread.withLock { $0 = started }
  }

  public func send(_ deliveries: [Delivery]) {
    inbox.withLock { $0.deliveries += deliveries }
    multi.wake()
  }

  public func cancel() {
    inbox.withLock { $0.isCancelled = true }
    multi.wake()
  }

  public func close() {
    inbox.withLock { $0.isClosed = true }
    multi.wake()
    thread.withLock { $0.take() }?.join()
  }

  private func run(_ owner: any SenderOwner) {
    while true {
      let news = inbox.withLock { inbox in
        defer { inbox.deliveries = [] }
        return inbox
      }
      var answers = news.deliveries.compactMap { delivery in multi.begin(delivery).map { (token: delivery.token, answer: $0) } }
      if news.isCancelled { answers += multi.advance() + multi.cancelAll().map { (token: $0, answer: DeliveryAnswer.unanswered) } }
      answers += multi.advance()
      if !answers.isEmpty { owner.take(answers) }
      if news.isClosed { return }
      multi.wait()
    }
  }
}

/// Why results cannot be sent by HTTP.
public enum HTTPSenderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// libcurl refuses what an option says.
  case option(String, reason: String)
  /// A file cannot be read, or is not what it should be.
  case file(path: String, reason: String)

  public var description: String {
    switch self {
    case .option(let option, let reason): "\(option): \(reason)"
    case .file(let path, let reason): "\(PrintableText.of(path)): \(reason)"
    }
  }
}
