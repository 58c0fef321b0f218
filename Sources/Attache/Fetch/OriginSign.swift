/// What the end of an exchange says about whether its origin is there.
enum OriginSign: Equatable, Sendable {
  /// It answers, be it with nonsense or a bad certificate.
  case life
  /// No connection came about: whatever had been asked for, the end would have been the same.
  case absence
  /// There was a connection and no answer, or a gateway said that nobody is behind it: another path may fare better.
  case silence

  /// The sign of a complete response head.
  init(status: Int) {
    self = [502, 503, 504].contains(status) ? .silence : .life
  }

  /// The sign of an exchange that ended without a complete head; nil when its end says nothing of the origin.
  ///
  /// - Parameter failure: what the transport says; nil for a head that broke off.
  init?(_ failure: Reason?, isUnanswered: Bool) {
    switch failure {
    case .connectRefused, .connectFailed: self = .absence
    case .tlsHandshake: self = isUnanswered ? .absence : .life
    case .connectReset, .httpTruncated, nil: self = .silence
    case .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming: self = .life
    default: return nil
    }
  }
}
