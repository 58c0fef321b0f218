/// Carries out exchanges with origins, through libcurl or from a script. Used on the loop only.
package protocol Transport: AnyObject {
  /// Begins an exchange and reports its progress to `owner`. ``deliverEnds()`` reports its end.
  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer
  /// Notifies the owners of the exchanges that have ended. Called at the end of a turn, when no
  /// code of the transport is on the stack.
  func deliverEnds()
  /// Cancels every exchange without notifying its owner, and closes all connections. A second call
  /// does nothing.
  func shutdown()
}

/// One exchange with an origin.
package protocol Transfer: AnyObject {
  /// The durations measured so far.
  var times: TransferTimes { get }
  /// Whether the request was sent. It may wait for a connection first.
  var isSent: Bool { get }
  /// Resumes after ``BodyVerdict/pause``.
  ///
  /// - Returns: false when the exchange stopped while resuming, because of its owner or its
  ///   ``fault``. Its end is then not reported.
  func resume() -> Bool
  /// The error that the transport itself has found in the received bytes.
  var fault: Reason? { get }
  /// Cancels the exchange without notifying its owner. Closes its connection unless the body has
  /// been read to the end.
  func cancel()
}

/// Receives the response of an exchange. Called on the loop. The transport calls the first two
/// methods from its own code, where no exchange may begin or end.
package protocol TransferOwner: AnyObject {
  /// Called when all headers have arrived. Returns whether the body is wanted.
  func transferReceivedHead(_ head: ResponseHead) -> Bool
  /// Called with a piece of the body.
  func transferReceivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict
  /// Called when the exchange is over, with or without success.
  func transferEnded(_ end: TransferEnd)
}

/// What to do with a piece of a body and with the rest of the body.
package enum BodyVerdict: Sendable {
  case take
  /// Not now. The piece is offered again after ``Transfer/resume()``.
  case pause
  case stop
}

/// A request to an origin.
package struct TransferRequest: Sendable {
  package var url: CheckedURL
  /// The checked addresses of the URL's host. The transport connects only to these and looks up no
  /// name.
  package var addresses: [IPAddress]
  /// The proxy, if any. ``addresses`` are then the proxy's.
  package var proxy: Proxy?
  /// Where an earlier body broke off, with the strong validator from the origin. nil requests the
  /// whole body.
  package var resumption: (offset: Int, validator: String)?
  /// The text of the field `User-Agent`.
  package var userAgent = RequestField.defaultUserAgent
  /// The operator's header lines for the origin (``OriginFields``).
  package var originFields: [String] = []
  /// Header lines that request the body only if it differs from the known one.
  package var conditions: [String] = []
  /// Whether not to offer HTTP/2, because an earlier exchange over it did not show whether its body
  /// was complete.
  package var avoidsHTTP2 = false
  /// The time limit for a connection, for all addresses together.
  package var connectTimeout: Duration

  /// The header lines in addition to those that every request has.
  package var fields: [String] {
    originFields + (resumption.map { ["Range: bytes=\($0.offset)-", "If-Range: \($0.validator)"] } ?? []) + conditions
  }
}

/// How an exchange ended.
package struct TransferEnd: Sendable {
  /// nil when the transport found no error. The response may still be refused.
  package var failure: Reason?
  /// Whether a failed handshake or a failure of the proxy may be temporary: there was no answer, or
  /// the proxy's status was 502, 503 or 504. Other failures do not use it.
  package var isUnanswered: Bool
  /// How long the exchange waited for a connection or its handshake before it timed out. nil when
  /// it ended otherwise.
  package var timeout: Duration?
  /// The errno when this machine could not open a socket or send, for example without a free
  /// descriptor. nil when there was no such failure.
  package var localError: Int32?
  /// Whether a body over HTTP/2 ended with its connection, so that it may be incomplete. HTTP/1.1
  /// shows whether it is.
  package var isDoubtful = false
  /// The proxy's status in response to CONNECT, unless it was a success.
  package var proxyStatus: Int?
  /// Why the origin's certificate was not accepted, if that is known.
  package var certificateFault: CertificateFault?
  /// The refusal of the address gate, if it stopped the connection.
  package var refusal: Refusal?
  package var times: TransferTimes
  /// The delay that Retry-After requests.
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

/// The durations of the parts of an exchange. nil for a part that did not happen.
package struct TransferTimes: Sendable {
  package var connect: Duration?
  package var tls: Duration?
  /// Measured from the start of the exchange.
  package var firstByte: Duration?

  package init(connect: Duration? = nil, tls: Duration? = nil, firstByte: Duration? = nil) {
    self.connect = connect
    self.tls = tls
    self.firstByte = firstByte
  }
}

/// The reason why an exchange could not begin.
package struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}
