public import Attache

/// The behavior of an origin.
public struct OriginScript: Sendable, Hashable {
  /// The TLS behavior of an origin.
  public enum TLS: String, Sendable, CaseIterable {
    /// A valid certificate.
    case good
    /// The certificate expired yesterday.
    case expired
    /// The certificate is for another name.
    case wrongHost = "wrong-host"
    /// The handshake is never answered.
    case stalled
    /// A root that attache does not trust signed the certificate.
    case untrusted
    /// The certificate is valid only from tomorrow.
    case notYetValid = "not-yet-valid"
    /// The certificate is self-signed, and attache does not trust it.
    case selfSigned = "self-signed"
    /// An intermediate certificate signed the certificate, and the origin does not send it.
    case withoutIntermediate = "no-intermediate"
    /// The certificate has the name only in its subject.
    case commonName = "common-name"
    /// Each name has its own certificate, served to clients that ask for it. Other clients get a
    /// certificate for an unrelated name.
    case byName = "by-name"
    /// The certificate is for 10,000 names, which exceeds the 100 KB of certificates that OpenSSL
    /// accepts.
    case manyNames = "many-names"
    /// The server requires a client certificate.
    case clientCertificate = "client-certificate"
    /// The server supports TLS 1.1 at most.
    case version11 = "tls-1.1"
    /// The server selects a cipher without encryption.
    case nullCipher = "null-cipher"
    /// The server offers a Diffie-Hellman group of 480 bits.
    case shortKey = "short-key"
    /// The handshake arrives at one byte every 100 ms.
    case dripped
    /// The server sends 90 KB of certificates, 2,000 bytes every 100 ms.
    case longChain = "long-chain"
    /// ALPN selects `h2`, but the server sends HTTP/1.
    case falseProtocol = "false-protocol"
  }

  /// What happens to a connection before any request.
  public enum Connection: String, Sendable, CaseIterable {
    /// Nothing listens.
    case refused
    /// The connection is reset at the client's first byte.
    case reset
    /// The connection is accepted, but nothing is sent.
    case silent
    /// The connection is not accepted: the packets are dropped.
    case dropped
  }

  /// The address and port where an origin listens, in a scenario with its own network.
  public struct Listening: Sendable, Hashable {
    /// The address; nil for all addresses.
    public var address: IPAddress?
    /// The port; nil for 443 with TLS and 80 without.
    public var port: UInt16?

    /// Creates the address and port.
    public init(address: IPAddress? = nil, port: UInt16? = nil) {
      self.address = address
      self.port = port
    }
  }

  /// Where the origin listens; nil for all addresses. On loopback, the port is a free one.
  public var listening: Listening?
  /// The DNS names and addresses of a good certificate; the first label of a name can be `*`. If
  /// empty, the certificate has those of loopback and of `dns`.
  public var certificateNames: [String] = []
  /// The TLS behavior; nil for plain http.
  public var tls: TLS?
  /// The fault of the connection; nil serves the paths.
  public var connection: Connection?
  /// Whether ALPN offers `h2`; used only with TLS.
  public var offersHTTP2 = true
  /// The behavior of each path; all other paths return 404.
  public var paths: [String: PathScript] = [:]

  /// Creates an origin with plain http and without paths.
  public init() {}
}

extension OriginScript {
  /// Returns whether a good certificate covers a host: by its name, or by a name whose first label
  /// is `*`, which matches exactly one label (RFC 9525, 6.3).
  func certificateCovers(_ host: String) -> Bool {
    guard !certificateNames.isEmpty, !certificateNames.contains(host) else { return true }
    let parent = host.drop { $0 != "." }
    return !parent.isEmpty && certificateNames.contains("*" + parent)
  }
}

/// The behavior of a path: one list of steps per request. The last list repeats.
public struct PathScript: Sendable, Hashable {
  /// The steps for each request, in order. If empty, the path returns 404.
  public var responses: [[OriginStep]]

  /// Creates a script from the steps for each request.
  public init(responses: [[OriginStep]]) {
    self.responses = responses
  }
}

/// An action of an origin while it answers a request.
public struct OriginStep: Sendable, Hashable {
  /// The kinds of actions.
  public enum Action: Sendable, Hashable {
    /// The status, before anything is sent; 200 by default.
    case status(Int)
    /// An additional header field; the value can contain placeholders.
    case header(name: String, value: String)
    /// A Location that can contain placeholders. The status is 302 by default.
    case redirect(String)
    /// How the length of the body is declared. By default, it is the total number of bytes sent.
    case length(Length)
    /// The next `count` bytes of a file; nil for all remaining bytes.
    case send(Medium, count: Int?)
    /// This text as part of the body.
    case text(String)
    /// These bytes as part of the body, or instead of HTTP after ``raw(_:)``.
    case hex([UInt8])
    /// This text instead of HTTP. Everything after it also replaces HTTP, and the connection closes
    /// at the end.
    case raw(String)
    /// Sends nothing more until the client disconnects.
    case stall
    /// A TCP reset.
    case reset
    /// A clean close.
    case close
    /// An abrupt end of the connection: over TLS without a close_notify, over HTTP/2 by a DATA
    /// frame that is too long.
    case cut
    /// Over HTTP/2, a GOAWAY with ENHANCE_YOUR_CALM, then a close.
    case goAway
    /// An HTTP/2 header block that is hostile or never ends.
    case flood(HeaderFlood)
    /// Kills or stops the process that sent the request, if this process started it, and sends
    /// nothing more.
    case fetcher(FetcherFault)
  }

  /// How an origin declares the length of a body.
  public enum Length: Sendable, Hashable {
    /// A `Content-Length` of this many bytes.
    case bytes(Int)
    /// A `Content-Length` that is wrong by this many bytes.
    case offBy(Int)
    /// A chunked body without a `Content-Length`.
    case chunked
    /// No declared length: the body ends when the connection closes.
    case absent
  }

  /// How often a step runs.
  public enum Repetition: Sendable, Hashable {
    /// This number of times.
    case times(Int)
    /// Without end.
    case forever
  }

  /// The time of the step, counted from the arrival of the request; nil runs it when the previous
  /// step is done.
  public var at: Duration?
  /// The action of the step.
  public var action: Action
  /// How often the step runs; nil for once.
  public var repetition: Repetition?
  /// The pause between repetitions; nil for none.
  public var every: Duration?

  /// Creates a step. By default, it runs once, when the previous step is done.
  public init(_ action: Action, at: Duration? = nil, repetition: Repetition? = nil, every: Duration? = nil) {
    self.action = action
    self.at = at
    self.repetition = repetition
    self.every = every
  }
}

/// A file that an origin sends.
public struct Medium: Sendable, Hashable {
  /// The name in the scenario: `media/photo.jpg`, or `stand-in-20000.jpg`.
  public var name: String
  /// The contents of the file.
  public var bytes: [UInt8]

  /// Creates a file with its name in the scenario.
  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
