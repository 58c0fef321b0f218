/// What the end of an exchange says about whether its origin is there.
enum OriginHealthSignal: Equatable, Sendable {
  /// It answers, be it with nonsense or a bad certificate.
  case life
  /// No connection came about: whatever had been asked for, the end would have been the same.
  case absence
  /// There was a connection and no answer, or a gateway said that nobody is behind it: another path
  /// may fare better.
  case silence

  /// The sign of a complete response head.
  init(status: Int) {
    self = [502, 503, 504].contains(status) ? .silence : .life
  }

  /// A connection that does not come about within this time says that nobody is there: the first
  /// packet has been sent twice by then (RFC 6298, 2.1), and no path on earth is so long. What a
  /// budget that was nearly used up cut off earlier says nothing: a redirect can be timed so.
  static let fairTimeout = Duration.seconds(1)

  /// The sign of an exchange that ended without a complete head; nil when its end says nothing of
  /// the origin, such as a failure of this machine's own.
  init?(_ end: TransferEnd) {
    guard end.refusal == nil, end.localError == nil, end.timeout.map({ $0 >= Self.fairTimeout }) ?? true else { return nil }
    switch end.failure {
    case .connectRefused, .connectFailed: self = .absence
    case .tlsHandshake: self = end.isUnanswered ? .absence : .life
    // No failure is a head that broke off.
    case .connectReset, .httpTruncated, nil: self = .silence
    case .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming: self = .life
    case .deadline, .cancelled, .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadMaximum,
      .payloadIdentifier,
      .payloadLazy,
      .policyURL, .policyScheme, .policyUserinfo, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments,
      .policyBreaker,
      .dnsNotFound, .dnsFailed, .dnsTimeout, .connectProxy, .httpStatus, .httpEncoding, .httpRedirect, .sizeImage, .sizeAudio, .sizeVideo,
      .sizeLimit, .sizeEmpty, .sizePixels, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector, .fetchCrashed, .storeFull,
      .storeReadOnly,
      .storeFailed,
      .queueExpired, .queuePoison, .internal:
      return nil
    }
  }
}
