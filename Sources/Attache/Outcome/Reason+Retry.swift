extension Reason {
  /// Whether what went wrong may pass by itself, so that another try may end better: the one table
  /// for the tries of a fetch and for those of a queue.
  ///
  /// - Parameter status: of the response, which decides for ``httpStatus``; nil without a response.
  public func isRetryable(status: Int?) -> Bool {
    switch self {
    case .deadline, .cancelled, .policyBreaker, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .connectProxy,
      .tlsHandshake, .httpTruncated, .storeFull, .storeReadOnly, .storeFailed:
      true
    // Request Timeout (RFC 9110), Too Early (RFC 8470), Too Many Requests (RFC 6585), and the
    // server's own failures.
    case .httpStatus: status.map { [408, 425, 429].contains($0) || 500...599 ~= $0 } ?? false
    case .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadMaximum, .payloadIdentifier, .payloadLazy,
      .policyURL,
      .policyScheme, .policyUserinfo, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .dnsNotFound,
      .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpRedirect, .sizeImage,
      .sizeAudio, .sizeVideo, .sizeLimit, .sizeEmpty, .sizePixels, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector,
      .fetchCrashed,
      .queueExpired, .queuePoison, .internal:
      false
    }
  }
}
