package import Attache

/// A request to an origin as the client saw it, with its times.
package struct RecordedExchange: Sendable, Hashable {
  package enum End: Sendable, Hashable {
    /// The response was complete, or the client needed no more of it.
    case complete
    /// The response ended early, or none arrived.
    case broken(Reason)
    /// The client gave up while nothing more arrived.
    case abandoned
  }

  /// A piece of the body.
  package struct Piece: Sendable, Hashable {
    /// The time since the request started.
    package var at: Duration
    package var count: Int

    package init(at: Duration, count: Int) {
      self.at = at
      self.count = count
    }
  }

  package struct Head: Sendable, Hashable {
    /// The time since the request started.
    package var at: Duration
    package var status: Int
    /// The value of Content-Length; nil when it is absent.
    package var length: Int?
    package var isChunked: Bool
    package var location: String?
    /// The other fields that attache uses, without the framing field.
    package var fields: [HeaderField]
    /// Whether the response is refused because parsers disagree about its header, for example because
    /// a field continues on another line.
    package var isAmbiguous: Bool

    package init(
      at: Duration, status: Int, length: Int? = nil, isChunked: Bool = false, location: String? = nil, fields: [HeaderField] = [],
      isAmbiguous: Bool = false
    ) {
      self.at = at
      self.status = status
      self.length = length
      self.isChunked = isChunked
      self.location = location
      self.fields = fields
      self.isAmbiguous = isAmbiguous
    }
  }

  package var isSecure: Bool
  /// The host as in the URL.
  package var host: String
  package var port: UInt16
  /// The path without the query.
  package var path: String
  package var head: Head?
  package var pieces: [Piece] = []
  /// The body, if it is kept or has at most as many bytes as the longest beginning of a stand-in.
  package var body: [UInt8] = []
  /// The media type, if the bytes can be attached.
  package var type: MediaType?
  /// The reason why the bytes cannot be attached.
  package var refusal: Reason?
  package var end = End.abandoned

  package init(isSecure: Bool, host: String, port: UInt16, path: String) {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.path = path
  }

  /// The number of body bytes received.
  package var received: Int {
    pieces.reduce(0) { $0 + $1.count }
  }
}
