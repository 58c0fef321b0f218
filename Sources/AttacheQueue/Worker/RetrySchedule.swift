internal import Attache

/// When a payload that could not be given its media is tried again: exponential backoff with full jitter.
///
/// Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
struct RetrySchedule: Sendable {
  /// Tries at most, the first included.
  var attempts: Int
  /// The ceiling of the wait after the first try; it doubles with each.
  static let base = Duration.seconds(1)
  static let longest = Duration.seconds(300)

  /// How long to wait before the next try, or nil when there is to be none.
  ///
  /// - Parameters:
  ///   - attempt: the number of the try that failed, from 1.
  ///   - remaining: how long until the payload expires; nil when it does not.
  ///   - jitter: a random fraction in 0…1.
  func delay(after attempt: Int, remaining: Duration?, jitter: Double) -> Duration? {
    guard attempt < attempts else { return nil }
    let delay = min(Self.longest, Self.base * (1 << min(attempt - 1, 16))) * jitter
    return remaining.map { delay < $0 } ?? true ? delay : nil
  }
}

extension DecidedPayload {
  /// Whether another try may end better: nothing was attached, and what stood in the way may pass by itself.
  var mayPass: Bool {
    guard outcome == .fallback, let reason else { return false }
    guard !media.isEmpty else { return reason.mayPass(status: nil) }
    return media.contains { $0.reason?.mayPass(status: $0.status) ?? false }
  }
}

extension Reason {
  /// Whether what stood in the way may pass by itself.
  ///
  /// - Parameter status: of the response, for ``Reason/httpStatus``.
  fileprivate func mayPass(status: Int?) -> Bool {
    switch self {
    case .deadline, .cancelled, .policyBreaker, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .connectProxy,
      .tlsHandshake, .httpTruncated, .storeFull, .storeReadOnly, .storeFailed:
      true
    // Request Timeout, Too Early, Too Many Requests (RFC 9110, RFC 8470, RFC 6585), and what is the server's own fault.
    case .httpStatus: status.map { [408, 425, 429].contains($0) || 500...599 ~= $0 } ?? false
    case .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadMaximum, .payloadIdentifier, .payloadLazy,
      .policyURL,
      .policyScheme, .policyUserinfo, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .dnsNotFound,
      .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpRedirect, .sizeImage,
      .sizeAudio, .sizeVideo, .sizeLimit, .sizeEmpty, .sizePixels, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector,
      .queueExpired, .queuePoison, .internal:
      false
    }
  }
}
