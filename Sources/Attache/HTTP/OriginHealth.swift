/// What the exchanges of one request have shown about the origin that the request names.
///
/// Only the result of the whole request counts, once: an answer to any attempt is a sign of life,
/// however the other attempts ended. A redirect is an answer of the origin that sent it; what
/// happens at its target says nothing about the origin that the payload names.
struct OriginHealth: Equatable, Sendable {
  /// nil when nothing is known.
  var signal: OriginHealthSignal?
  /// When the first exchange began. Waits for a place, and for names, come before it.
  var since: MonotonicInstant?
  /// When the current exchange began; nil between two exchanges.
  private var exchange: MonotonicInstant?
  /// What the head of the current response shows.
  private var head: OriginHealthSignal?

  init(_ signal: OriginHealthSignal? = nil, since: MonotonicInstant? = nil) {
    (self.signal, self.since) = (signal, since)
  }

  mutating func begin(at now: MonotonicInstant) {
    since = since ?? now
    (exchange, head) = (now, nil)
  }

  /// Records a complete response head. nil says nothing about the origin.
  mutating func receive(_ signal: OriginHealthSignal?) { head = signal }

  /// Records the end of an exchange.
  ///
  /// - Parameters:
  ///   - end: what its end shows, if it had no head.
  ///   - isCutOff: whether the connection ended within a wanted body.
  mutating func end(_ end: OriginHealthSignal?, isCutOff: Bool) {
    add(isCutOff ? head.map { _ in .silence } : head ?? end)
    (exchange, head) = (nil, nil)
  }

  /// Returns what is known when the request ends, also in the midst of an exchange.
  ///
  /// - Parameter isSent: whether the request of the current exchange was sent. An origin that has
  ///   begun to answer is alive, however slowly its body comes. One that has not answered a
  ///   request for ``OriginHealthSignal/fairTimeout`` has failed.
  func ended(isSent: Bool, at now: MonotonicInstant) -> OriginHealth {
    var health = OriginHealth(signal, since: since)
    guard let exchange else { return health }
    let isTimedOut = isSent && exchange.duration(to: now) >= OriginHealthSignal.fairTimeout
    health.add(head ?? (isTimedOut ? .silence : nil))
    return health
  }

  private mutating func add(_ new: OriginHealthSignal?) {
    if signal != .life, let new { signal = new }
  }
}

/// What the end of an exchange shows about the availability of its origin.
/// The raw value is its number in a frame; 0 means none.
enum OriginHealthSignal: UInt8, Sendable {
  /// The origin answers, even if its response or its certificate is invalid.
  case life = 1
  /// No connection, or no handshake, was completed. A request for any other URL of the origin would
  /// have ended the same way.
  case absence
  /// A connection was established but gave no complete answer, or a gateway reported that its
  /// origin is unavailable. A request for another path may succeed.
  case silence

  /// Creates the signal for a complete response head.
  init(status: Int) {
    self = [502, 503, 504].contains(status) ? .silence : .life
  }

  /// A timeout of at least this length shows that the origin does not answer. By then the first packet
  /// has been sent twice (RFC 6298, 2.1), and no path on earth takes so long. A shorter timeout,
  /// from a budget that was nearly used up, is ignored: a redirect can be timed to cause it.
  static let fairTimeout = Duration.seconds(1)

  /// Creates the signal for an exchange that ended without a complete head. Returns nil when the
  /// end shows nothing about the origin, such as a local failure.
  init?(_ end: TransferEnd) {
    guard end.refusal == nil, end.localError == nil, end.timeout.map({ $0 >= Self.fairTimeout }) ?? true else { return nil }
    switch end.failure {
    case .connectRefused, .connectFailed: self = .absence
    case .tlsHandshake: self = end.isUnanswered ? .absence : .life
    // Without a failure, the head broke off.
    case .connectReset, .httpTruncated, nil: self = .silence
    case .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming: self = .life
    case .deadline, .cancelled, .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadMaximum,
      .payloadPlace, .payloadIdentifier,
      .payloadForm, .payloadLazy, .payloadSilent, .payloadNoAlert, .payloadNotMutable, .payloadNoMedia, .payloadUnreadMedia,
      .policyURL, .policyScheme, .policyUserinfo, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments,
      .policyBreaker,
      .dnsNotFound, .dnsFailed, .dnsTimeout, .connectProxy, .httpStatus, .httpEncoding, .httpRedirect, .sizeImage, .sizeAudio, .sizeVideo,
      .sizeLimit, .sizeEmpty, .sizePixels, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector, .convertFailed, .convertDeadline,
      .uploadFailed, .uploadRefused, .uploadPrivate, .fetchCrashed, .extensionCrash, .extensionMemory, .extensionFile, .extensionContent,
      .storeFull,
      .storeReadOnly,
      .storeFailed,
      .queueExpired, .queuePoison, .queueCancelled, .internal:
      return nil
    }
  }
}
