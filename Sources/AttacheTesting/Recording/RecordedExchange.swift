package import Attache

/// One request to an origin as it was seen from the client's side, with its times.
package struct RecordedExchange: Sendable, Hashable {
  package enum End: Sendable, Hashable {
    /// The response was whole, or nobody wanted more of it.
    case complete
    /// The response broke off, or none came.
    case broken(Reason)
    /// The client gave up: nothing more had come.
    case abandoned
  }

  /// A piece of the body.
  package struct Piece: Sendable, Hashable {
    /// Since the request was on its way.
    package var at: Duration
    package var count: Int

    package init(at: Duration, count: Int) {
      self.at = at
      self.count = count
    }
  }

  package struct Head: Sendable, Hashable {
    /// Since the request was on its way.
    package var at: Duration
    package var status: Int
    /// What Content-Length said; nil when it said nothing.
    package var length: Int?
    package var isChunked: Bool
    package var location: String?
    /// The fields that attache looks at, without those of the framing and the place of a redirect.
    package var fields: [HeaderField]

    package init(
      at: Duration, status: Int, length: Int? = nil, isChunked: Bool = false, location: String? = nil, fields: [HeaderField] = []
    ) {
      self.at = at
      self.status = status
      self.length = length
      self.isChunked = isChunked
      self.location = location
      self.fields = fields
    }
  }

  package var isSecure: Bool
  /// As the URL has it.
  package var host: String
  package var port: UInt16
  /// Without the query.
  package var path: String
  package var head: Head?
  package var pieces: [Piece] = []
  /// The body, if it is kept.
  package var body: [UInt8] = []
  /// What the bytes are, if they may be attached.
  package var type: MediaType?
  /// Why they may not.
  package var refusal: Reason?
  package var end = End.abandoned

  package init(isSecure: Bool, host: String, port: UInt16, path: String) {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.path = path
  }

  /// Bytes of the body that came.
  package var received: Int {
    pieces.reduce(0) { $0 + $1.count }
  }
}
