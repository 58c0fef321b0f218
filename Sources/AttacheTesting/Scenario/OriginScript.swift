public import Attache

/// What an origin does.
public struct OriginScript: Sendable, Hashable {
  /// How an origin speaks TLS.
  public enum TLS: String, Sendable, CaseIterable {
    case good
    /// Out of date since yesterday.
    case expired
    /// For another name.
    case wrongHost = "wrong-host"
    /// The handshake is never answered.
    case stalled
    /// Below a root that attache does not know.
    case untrusted
    /// From tomorrow on.
    case notYetValid = "not-yet-valid"
    /// Its own root, which attache does not know.
    case selfSigned = "self-signed"
    /// The name stands in the certificate's subject alone.
    case commonName = "common-name"
    /// Each name has a certificate of its own, for who asks for it; who asks for none gets a
    /// stranger's.
    case byName = "by-name"
    /// For 10,000 names: more than the 100 KB of certificates that OpenSSL takes.
    case manyNames = "many-names"
    /// The client is asked for a certificate.
    case clientCertificate = "client-certificate"
    /// TLS 1.1 at the most.
    case version11 = "tls-1.1"
    /// The server picks a cipher without encryption.
    case nullCipher = "null-cipher"
    /// The server offers a Diffie-Hellman group of 480 bits.
    case shortKey = "short-key"
    /// A byte of the handshake every 100 ms.
    case dripped
    /// 90 KB of certificates, 2,000 bytes every 100 ms.
    case longChain = "long-chain"
    /// ALPN takes `h2`, and what comes is HTTP/1.
    case falseProtocol = "false-protocol"
  }

  /// What becomes of a connection, before any request.
  public enum Connection: String, Sendable, CaseIterable {
    /// Nothing listens.
    case refused
    /// Reset at the client's first byte.
    case reset
    /// Accepted, and never a word.
    case silent
    /// Not even accepted: the packets are dropped.
    case dropped
  }

  /// Where an origin listens in a network of its own.
  public struct Listening: Sendable, Hashable {
    /// Nil is every address.
    public var address: IPAddress?
    /// Nil is 443 with TLS, and 80 without.
    public var port: UInt16?

    public init(address: IPAddress? = nil, port: UInt16? = nil) {
      self.address = address
      self.port = port
    }
  }

  /// nil is every address; on loopback it is a port that is free.
  public var listening: Listening?
  /// The DNS names, with `*` as their first label or without, and the addresses that a good
  /// certificate is for; empty for those of loopback and of `dns`.
  public var certificateNames: [String] = []
  /// nil is plain http.
  public var tls: TLS?
  /// nil serves the paths.
  public var connection: Connection?
  /// Whether ALPN offers `h2`; only with TLS.
  public var offersHTTP2 = true
  /// What each path does; every other path is a 404.
  public var paths: [String: PathScript] = [:]

  public init() {}
}

/// What a path does: one list of steps a request, the last for all that follow.
public struct PathScript: Sendable, Hashable {
  public var responses: [[OriginStep]]

  public init(responses: [[OriginStep]]) {
    self.responses = responses
  }
}

/// One thing that an origin does while it answers a request.
public struct OriginStep: Sendable, Hashable {
  public enum Action: Sendable, Hashable {
    /// Before anything is sent: 200 unless said.
    case status(Int)
    case header(name: String, value: String)
    /// A Location, with placeholders; status 302 unless another is said.
    case redirect(String)
    /// How the length of the body is told; what is sent altogether unless said.
    case length(Length)
    /// The next bytes of a file, or all that are left of it.
    case send(Medium, count: Int?)
    /// These bytes as part of the body.
    case text(String)
    /// These bytes as part of the body, or in the place of HTTP behind ``raw(_:)``.
    case hex([UInt8])
    /// These bytes in the place of HTTP, as is all that follows them; the connection closes at the
    /// end.
    case raw(String)
    /// Nothing more, until the client is gone.
    case stall
    /// A TCP reset.
    case reset
    /// A close in good order.
    case close
    /// The end of the connection without a farewell: over TLS without a close_notify, over HTTP/2
    /// by a DATA frame that is too long.
    case cut
    /// Over HTTP/2 a GOAWAY that says ENHANCE_YOUR_CALM, and the close.
    case goAway
    /// A header block of HTTP/2 that has no good end.
    case flood(HeaderFlood)
    /// The end or the stop of the process that sent the request, if this process has started it,
    /// and nothing more.
    case fetcher(FetcherFault)
  }

  /// How an origin tells the length of a body.
  public enum Length: Sendable, Hashable {
    case bytes(Int)
    /// Wrong by so many bytes.
    case offBy(Int)
    case chunked
    /// The end of the connection ends the body.
    case untold
  }

  public enum Repetition: Sendable, Hashable {
    case times(Int)
    case forever
  }

  /// Counted from the moment when the request has come; nil is as soon as the step before is done.
  public var at: Duration?
  public var action: Action
  public var repetition: Repetition?
  /// The pause between repetitions.
  public var every: Duration?

  public init(_ action: Action, at: Duration? = nil, repetition: Repetition? = nil, every: Duration? = nil) {
    self.action = action
    self.at = at
    self.repetition = repetition
    self.every = every
  }
}

/// A file that an origin sends.
public struct Medium: Sendable, Hashable {
  /// As the scenario names it: `media/photo.jpg`, or `stand-in-20000.jpg`.
  public var name: String
  public var bytes: [UInt8]

  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }
}
