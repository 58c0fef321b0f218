public import AttacheQueue
internal import Attache

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

  private let client: HTTPClient

  /// Creates a sender. It connects when the first results are sent.
  ///
  /// - Throws: ``HTTPSenderError`` when libcurl rejects the configuration or a file cannot be read.
  public init(_ configuration: Configuration) throws(HTTPSenderError) {
    client = try HTTPClient(configuration)
  }

  public func start(_ owner: any SenderOwner) throws { try client.start(owner) }
  public func send(_ deliveries: [Delivery]) { client.send(deliveries) }
  public func cancel() { client.cancel() }
  public func close() { client.close() }
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
