import Attache

/// The scenario that shows a reason, if there is one.
enum ReasonScenario {
  /// A file in Fixtures/scenarios that causes the reason.
  case file(String)
  /// No scenario can cause it; the text says why.
  case none(String)
}

extension Reason {
  /// The scenario that shows the reason.
  var scenario: ReasonScenario {
    switch self {
    case .deadline: .file("origin-stalls-within-the-body.yaml")
    case .cancelled: .file("filter-is-told-to-stop-at-once.yaml")
    case .payloadJSON: .file("line-is-no-json.yaml")
    case .payloadSize: .file("line-is-longer-than-a-mebibyte.yaml")
    case .payloadEnriched: .file("payload-is-already-enriched.yaml")
    case .payloadEnvelope: .file("envelope-cannot-be-opened.yaml")
    case .payloadAlert: .file("extension-takes-the-alert-away.yaml")
    case .payloadMaximum: .file("payload-grows-beyond-its-maximum.yaml")
    case .payloadPlace: .file("url-has-no-place-of-its-own.yaml")
    case .payloadIdentifier: .file("identifier-is-a-path.yaml")
    case .payloadForm: .file("attachments-are-json-in-a-string.yaml")
    case .payloadLazy: .file("payload-wants-its-media-loaded-later.yaml")
    case .payloadSilent, .payloadNoAlert, .payloadNotMutable: .file("silent-push-passes.yaml")
    case .payloadNoMedia: .file("payload-names-no-media.yaml")
    case .payloadUnreadMedia: .file("url-is-where-nothing-reads-it.yaml")
    case .policyURL: .file("url-is-no-url.yaml")
    case .policyScheme: .file("url-has-another-scheme.yaml")
    case .policyUserinfo: .file("url-carries-a-password.yaml")
    case .policyHost: .file("host-is-of-the-local-network.yaml")
    case .policyPort: .file("port-is-not-allowed.yaml")
    case .policyAddress: .file("address-is-private.yaml")
    case .policyRedirect: .file("redirect-leads-to-loopback.yaml")
    case .policyAttachments: .file("more-media-than-are-followed.yaml")
    case .policyBreaker: .file("origin-is-down-for-a-backlog.yaml")
    case .dnsNotFound: .file("name-does-not-exist.yaml")
    case .dnsFailed: .file("name-servers-fail.yaml")
    case .dnsTimeout: .file("name-server-never-answers.yaml")
    case .connectRefused: .file("nothing-listens-at-the-port.yaml")
    case .connectFailed: .file("packets-to-the-origin-are-dropped.yaml")
    case .connectReset: .file("origin-resets-instead-of-answering.yaml")
    case .connectProxy: .file("proxy-is-not-there.yaml")
    case .tlsCertificate: .file("certificate-is-expired.yaml")
    case .tlsHost: .file("certificate-is-for-another-host.yaml")
    case .tlsVersion: .file("origin-speaks-tls-1.1.yaml")
    case .tlsHandshake: .file("https-meets-a-plain-port.yaml")
    case .httpStatus: .file("origin-answers-with-an-error.yaml")
    case .httpProtocol: .file("origin-speaks-ssh.yaml")
    case .httpHeaders: .file("origin-floods-the-header.yaml")
    case .httpFraming: .file("origin-sends-two-lengths.yaml")
    case .httpEncoding: .file("origin-compresses-unasked.yaml")
    case .httpTruncated: .file("origin-closes-within-the-body.yaml")
    case .httpRedirect: .file("redirects-go-in-a-circle.yaml")
    case .sizeImage: .file("image-is-larger-than-its-limit.yaml")
    case .sizeAudio: .file("audio-is-larger-than-its-limit.yaml")
    case .sizeVideo: .file("video-is-larger-than-its-limit.yaml")
    case .sizeLimit: .file("length-is-beyond-every-limit.yaml")
    case .sizeEmpty: .file("file-is-empty.yaml")
    case .sizePixels: .file("picture-is-a-pixel-flood.yaml")
    case .typeUnknown: .file("bytes-are-of-no-known-type.yaml")
    case .typeUnsupported: .file("page-is-served-as-a-picture.yaml")
    case .typeBroken: .file("picture-is-cut-off-at-the-origin.yaml")
    case .typeDetector: .none("no known bytes crash or hang libmagic; a test simulates a detector that does")
    case .convertFailed: .file("picture-cannot-be-converted.yaml")
    case .convertDeadline: .file("conversion-takes-too-long.yaml")
    case .uploadFailed: .file("bucket-answers-too-late.yaml")
    case .uploadRefused: .file("bucket-refuses-the-key.yaml")
    case .uploadPrivate: .file("private-media-are-not-published.yaml")
    case .fetchCrashed: .file("one-payload-kills-every-fetcher.yaml")
    case .extensionCrash, .extensionMemory, .extensionFile, .extensionContent:
      .none("a scenario has no extension of its own; attache rehearse --extension PROGRAM SCENARIO plays one with an extension")
    case .storeFull: .file("disk-is-full.yaml")
    case .storeReadOnly: .file("disk-turns-read-only.yaml")
    case .queueCancelled: .none("a scenario has nobody who cancels payloads in a queue")
    case .queueExpired, .queuePoison: .none("a scenario's payloads do not wait that long in a queue, and no media end a worker")
    case .storeFailed: .none("a scenario's disk can be full or read-only, but has no other errors")
    case .internal: .file("extension-throws.yaml")
    }
  }
}
