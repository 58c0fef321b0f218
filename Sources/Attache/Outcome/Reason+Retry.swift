extension Reason {
  /// Returns whether the failure may be temporary, so that a retry may succeed. Both the retries of
  /// a fetch and those of a queue use this table.
  ///
  /// - Parameter status: the status of the response, which decides for ``httpStatus``; nil without
  ///   a response.
  public func isRetryable(status: Int?) -> Bool {
    switch self {
    case .deadline, .cancelled, .policyBreaker, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .connectProxy,
      .tlsHandshake, .httpTruncated, .convertDeadline, .uploadFailed,
      .storeFull, .storeReadOnly, .storeFailed:
      true
    // Request Timeout (RFC 9110), Too Early (RFC 8470), Too Many Requests (RFC 6585), and the
    // server's own failures.
    case .httpStatus: status.map { [408, 425, 429].contains($0) || 500...599 ~= $0 } ?? false
    case .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadMaximum, .payloadPlace, .payloadIdentifier,
      .payloadForm, .payloadLazy, .payloadSilent, .payloadNoAlert, .payloadNotMutable, .payloadNoMedia, .payloadUnreadMedia,
      .policyURL,
      .policyScheme, .policyUserinfo, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .dnsNotFound,
      .tlsCertificate, .tlsHost, .tlsVersion, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpRedirect, .sizeImage,
      .sizeAudio, .sizeVideo, .sizeLimit, .sizeEmpty, .sizePixels, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector,
      .convertFailed, .uploadRefused, .uploadPrivate, .fetchCrashed,
      .extensionCrash, .extensionMemory, .extensionFile, .extensionContent, .queueExpired, .queuePoison, .queueCancelled, .internal:
      false
    }
  }
}
