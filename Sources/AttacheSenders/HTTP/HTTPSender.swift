public import AttacheQueue
internal import Attache
internal import Synchronization

/// Sends results over HTTP. Each result is the body of a POST to one URL, and the response's status
/// decides the outcome.
///
/// The operator chooses the endpoint, so its address is not checked. Redirects are not followed: a
/// POST that is repeated elsewhere is not an acknowledgement.
public final class HTTPSender: Sender {
  /// The endpoint of an ``HTTPSender``, and the limits of its requests.
  public struct Configuration: Sendable {
    /// The URL of the endpoint, which begins with `http://` or `https://`.
    public var url: String
    /// Header fields besides `Content-Type: application/json`, as `Name: value`. A `Content-Type`
    /// field replaces that one.
    public var fields: [String] = []
    /// The path of a file with a token for `Authorization: Bearer`. The file is read again when it
    /// changes; nil sends no token.
    public var bearerFile: String?
    /// Where a response says whether the payload is accepted; with nil, each 2xx status accepts it.
    public var acceptance: HTTPAcceptance?
    /// The path of a PEM file of root certificates; nil uses the system's.
    public var rootCertificates: String?
    /// The maximum time for an answer.
    public var answerTimeout = Duration.seconds(60)
    /// The maximum number of connections. Over HTTP/2, requests share one.
    public var connections = 64

    /// Creates a configuration with the default limits.
    ///
    /// - Parameter url: an `http://` or `https://` URL.
    public init(url: String) {
      self.url = url
    }
  }

  /// What the client's thread uses.
  private struct State {
    var bearer = TokenFile()
    let parser = JSONParser(capacity: HTTPAcceptance.maximumLength)
    weak var owner: (any SenderOwner)?
  }

  private let configuration: Configuration
  private let client: HTTPClient<LeaseToken>
  private let state = Mutex(State())

  /// Creates a sender. It connects when the first results are sent.
  ///
  /// - Throws: ``HTTPSenderError`` when libcurl rejects the configuration or a file cannot be read.
  public init(_ configuration: Configuration) throws(HTTPSenderError) {
    var configuration = configuration
    let hasType = configuration.fields.contains { $0.lowercased().hasPrefix("content-type:") }
    if !hasType { configuration.fields.append("Content-Type: application/json") }
    self.configuration = configuration
    client = try HTTPClient(
      HTTPClientConfiguration(
        rootCertificates: configuration.rootCertificates, answerTimeout: configuration.answerTimeout,
        connections: configuration.connections,
        keptLength: configuration.acceptance == nil ? HTTPAnswer.excerptLength : HTTPAcceptance.maximumLength + 1,
        statusesWithBody: configuration.acceptance == nil ? nil : 200...299))
  }

  public func start(_ owner: any SenderOwner) throws {
    try state.withLock { state throws(HTTPSenderError) in
      _ = try token(&state)
      state.owner = owner
    }
    client.start { [weak self] ends in self?.take(ends) }
  }

  public func send(_ deliveries: [Delivery]) {
    client.perform { [self] in for delivery in deliveries { post(delivery) } }
  }

  public func cancel() { client.cancel() }
  public func close() { client.close() }

  /// The token in the configuration's file; nil without a file.
  private func token(_ state: inout State) throws(HTTPSenderError) -> String? {
    guard let file = configuration.bearerFile else { return nil }
    return try state.bearer.read(file)
  }

  private func post(_ delivery: Delivery) {
    var fields = configuration.fields
    do throws(HTTPSenderError) {
      if let bearer = try state.withLock({ state throws(HTTPSenderError) in try token(&state) }) {
        fields.append("Authorization: Bearer \(bearer)")
      }
    } catch {
      return client.end(delivery.token, .unusable("\(error)"))
    }
    fields += ["Attache-Id: \(delivery.token.id)", "Attache-Attempt: \(delivery.attempt)"]
    client.send(HTTPPost(url: configuration.url, fields: fields, body: DeliveryText.body(delivery)), delivery.token)
  }

  private func take(_ ends: [HTTPClient<LeaseToken>.End]) {
    let (owner, answers) = state.withLock { state in
      let answers = ends.map { token, end in
        let answer: DeliveryAnswer =
          switch end {
          case .answered(let reply): HTTPAnswer.of(reply, configuration.acceptance, state.parser)
          case .lost(let why): .retry(after: nil, reason: why)
          case .unusable(let why), .refused(let why): .refused(reason: why)
          case .unanswered: .unanswered
          }
        return (token: token, answer: answer)
      }
      return (state.owner, answers)
    }
    owner?.take(answers)
  }
}

/// The reasons why results cannot be sent over HTTP.
public enum HTTPSenderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// libcurl rejects the value of an option.
  case option(String, reason: String)
  /// A file cannot be read, or has the wrong content.
  case file(path: String, reason: String)

  public var description: String {
    switch self {
    case .option(let option, let reason): "\(option): \(reason)"
    case .file(let path, let reason): "\(PrintableText.of(path)): \(reason)"
    }
  }
}
