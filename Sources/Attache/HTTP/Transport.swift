/// What carries exchanges with origins: libcurl, or a script. Used on the loop only.
package protocol Transport: AnyObject {
  /// Begins an exchange, whose course `owner` is told; its end comes from ``deliverEnds()``.
  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer
  /// Tells the owners of the exchanges that have ended. Called at the end of a turn, when nothing
  /// of the transport's is on the stack.
  func deliverEnds()
  /// Ends every exchange without a word to its owner and closes all connections. Once is enough,
  /// twice does no harm.
  func shutdown()
}

/// One exchange with an origin.
package protocol Transfer: AnyObject {
  /// The durations so far.
  var times: TransferTimes { get }
  /// Goes on after ``BodyVerdict/pause``.
  ///
  /// - Returns: false when it was stopped on the way, by its owner or for its ``fault``; its end is
  ///   then not told.
  func resume() -> Bool
  /// What the transport itself finds wrong with what has come.
  var fault: Reason? { get }
  /// Ends the exchange without a word to its owner; its connection is closed when its body has not
  /// been read to the end.
  func cancel()
}

/// Whoever wants an exchange's response. Called on the loop; the first two from within the
/// transport, where nothing may be begun or ended.
package protocol TransferOwner: AnyObject {
  /// All headers have come. Returns whether the body is wanted.
  func transferReceivedHead(_ head: ResponseHead) -> Bool
  /// A piece of the body has come.
  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict
  /// The exchange is over, for good or ill.
  func transferEnded(_ end: TransferEnd)
}

/// What is to be done with a piece of a body, and with what follows it.
package enum BodyVerdict: Sendable {
  case take
  /// Not now: the piece is offered again after ``Transfer/resume()``.
  case pause
  case stop
}

/// What is asked of an origin.
package struct TransferRequest: Sendable {
  package var url: CheckedURL
  /// The checked addresses of the URL's host; the transport connects to these and looks up none.
  package var addresses: [IPAddress]
  /// What the exchange goes through, whose the addresses then are.
  package var proxy: Proxy?
  /// Where an earlier body broke off, with the strong validator that the origin gave; nil asks for
  /// the whole.
  package var resumption: (offset: Int, validator: String)?
  /// Header lines that ask for the body only if it is another than the one that is known.
  package var conditions: [String] = []
  /// Whether HTTP/2 is not to be offered: an earlier exchange over it left open whether its body
  /// was whole.
  package var avoidsHTTP2 = false
  /// How long a connection may take to come about, all addresses together.
  package var connectTimeout: Duration
}

/// How an exchange ended.
package struct TransferEnd: Sendable {
  /// nil when the transport saw nothing wrong, which is not yet acceptance.
  package var failure: Reason?
  /// Whether no answer of any kind came, to a connection or to a handshake: it may pass by itself.
  package var isUnanswered: Bool
  /// How long a connection, or its handshake, was waited for in vain; nil where the exchange ended
  /// otherwise.
  package var timeout: Duration?
  /// The errno with which this machine gave no socket or sent nothing, as when it has no descriptor
  /// left; nil where it did.
  package var localError: Int32?
  /// Whether a body over HTTP/2 ended with its connection, so that nobody knows whether it is
  /// whole; HTTP/1.1 would say.
  package var isDoubtful = false
  /// What the proxy answered to CONNECT, if that was no success.
  package var proxyStatus: Int?
  /// What the address gate said, if it stopped the connection.
  package var refusal: Refusal?
  package var times: TransferTimes
  /// What Retry-After asks for.
  package var retryAfter: Duration?

  package init(
    failure: Reason?, isUnanswered: Bool = false, timeout: Duration? = nil, localError: Int32? = nil, proxyStatus: Int? = nil,
    refusal: Refusal? = nil, times: TransferTimes, retryAfter: Duration?
  ) {
    self.failure = failure
    self.isUnanswered = isUnanswered
    self.timeout = timeout
    self.localError = localError
    self.proxyStatus = proxyStatus
    self.refusal = refusal
    self.times = times
    self.retryAfter = retryAfter
  }
}

/// Durations of the parts of an exchange; nil for what did not happen.
package struct TransferTimes: Sendable {
  package var connect: Duration?
  package var tls: Duration?
  /// From the start of the exchange.
  package var firstByte: Duration?

  package init(connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil) {
    self.connect = connect
    self.tls = tls
    self.firstByte = firstByte
  }
}

/// Why an exchange could not be begun.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}
