extension Reason {
  /// Whether a worker with different flags might have attached the media. The result is final, but
  /// may be worth a `retry`.
  package var dependsOnFlags: Bool {
    switch self {
    case .policyScheme, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .tlsCertificate, .connectProxy,
      .payloadMaximum, .sizeImage, .sizeAudio, .sizeVideo, .sizeLimit, .sizePixels, .typeUnsupported, .uploadPrivate:
      true
    case .deadline, .cancelled, .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadPlace,
      .payloadIdentifier,
      .payloadForm, .payloadLazy, .payloadSilent, .payloadNoAlert, .payloadNotMutable, .payloadNoMedia, .payloadUnreadMedia, .policyURL,
      .policyUserinfo, .policyBreaker, .dnsNotFound, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .tlsHost,
      .tlsVersion, .tlsHandshake, .httpStatus, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpTruncated, .httpRedirect,
      .sizeEmpty, .typeUnknown, .typeBroken, .typeDetector, .convertFailed, .convertDeadline, .uploadFailed,
      .uploadRefused,
      .fetchCrashed, .extensionCrash, .extensionMemory, .extensionFile, .extensionContent, .storeFull,
      .storeReadOnly, .storeFailed,
      .queueExpired, .queuePoison, .queueCancelled, .internal:
      false
    }
  }

  /// The reasons of lines that ask for nothing. The log gives one example of each, as information.
  package static let ordinary: [Reason] = [.payloadSilent, .payloadNoAlert, .payloadNotMutable, .payloadNoMedia]

  /// The reasons of all lines that pass.
  package static let ofPassingLines = ordinary + [.payloadUnreadMedia, .payloadEnriched, .payloadEnvelope, .payloadSize]
}
