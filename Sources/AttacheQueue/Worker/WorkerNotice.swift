public import Attache

/// What a worker tells its user.
public enum WorkerNotice: Sendable, CustomStringConvertible {
  /// The first payload that fell back for a reason.
  ///
  /// - Parameter requeue: the command that requeues all payloads with this reason, where other flags would have let them pass; else nil.
  case fellBack(Explanation, requeue: String?)
  /// The machine fails, and the worker claims nothing; the text says what failed and what to do.
  case paused(String)
  /// The worker claims payloads again.
  case resumed

  /// One line.
  public var description: String {
    switch self {
    case .fellBack(let explanation, let requeue):
      "\(explanation)" + (requeue.map { "; once the flags allow it, requeue what fell back: \($0)" } ?? "")
    case .paused(let text):
      "paused: \(text); no payload is lost, and the worker tries again every \(WorkerConfiguration.pause.components.seconds) s"
    case .resumed: "the worker goes on"
    }
  }

  /// The notice of a payload's fallback.
  ///
  /// - Parameter queue: as `--queue` takes it.
  init(_ explanation: Explanation, queue: String) {
    let command = "attache retry --queue \(Self.quoted(queue)) --reason \(explanation.reason.rawValue)"
    self = .fellBack(explanation, requeue: explanation.reason.dependsOnFlags ? command : nil)
  }

  /// A word as a shell takes it.
  static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
        || "_-./:,+@%=".utf8.contains(byte)
    }
    guard !isPlain else { return word }
    var quoted = "'"
    for scalar in word.unicodeScalars {
      if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
    }
    return quoted + "'"
  }
}

extension Reason {
  /// Whether a worker with other flags might have attached the media: the payload is final, but may be worth a `retry`.
  var dependsOnFlags: Bool {
    switch self {
    case .policyScheme, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .tlsCertificate, .connectProxy,
      .payloadMaximum, .sizeImage, .sizeAudio, .sizeVideo, .sizeLimit, .sizePixels:
      true
    case .deadline, .cancelled, .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadIdentifier,
      .payloadLazy, .policyURL,
      .policyUserinfo, .policyBreaker, .dnsNotFound, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .tlsHost,
      .tlsVersion, .tlsHandshake, .httpStatus, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpTruncated, .httpRedirect,
      .sizeEmpty, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector, .storeFull, .storeReadOnly, .storeFailed, .queueExpired,
      .queuePoison, .internal:
      false
    }
  }
}
