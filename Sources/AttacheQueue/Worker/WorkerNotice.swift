public import Attache

/// What a worker tells its user.
public enum WorkerNotice: Sendable, CustomStringConvertible {
  /// The first payload that fell back for a reason.
  ///
  /// - Parameter advice: how all payloads with this reason are worked again, where other flags
  ///   would have let them pass; else nil.
  case fellBack(Explanation, advice: String?)
  /// The machine fails, and the worker claims nothing; the text says what failed and what to do.
  /// Told once a minute at most.
  ///
  /// - Parameter count: the pauses since the last that was told, this one included.
  case paused(String, count: Int)
  /// The worker claims payloads again; told when its pause was.
  case resumed
  /// The worker was stopped while the machine fails: payloads that it held are left without a
  /// result; the text says what failed and what to do.
  case left(String)

  /// One line.
  public var description: String {
    switch self {
    case .fellBack(let explanation, let advice): "\(explanation)" + (advice.map { "; \($0)" } ?? "")
    case .paused(let text, let count):
      "paused: \(text); no payload is lost, and the worker tries again every \(WorkerConfiguration.pause.components.seconds) s"
        + (count > 1 ? " (paused \(count) times since this was said last)" : "")
    case .resumed: "the worker goes on"
    case .left(let text): "payloads are left without a result: \(text)"
    }
  }

  /// The notice of a payload's fallback.
  ///
  /// - Parameter queue: as `--queue` takes it; nil when the queue is removed at the end, so that
  ///   nothing in it can be requeued.
  init(_ explanation: Explanation, queue: String?) {
    let advice =
      queue.map {
        "once the flags allow it, requeue what fell back: attache retry --queue \(Self.quoted($0)) --reason \(explanation.reason.rawValue)"
      } ?? "run the batch again with the flag that allows it, and a new output"
    self = .fellBack(explanation, advice: explanation.reason.dependsOnFlags ? advice : nil)
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
  /// Whether a worker with other flags might have attached the media: the payload is final, but may
  /// be worth a `retry`.
  var dependsOnFlags: Bool {
    switch self {
    case .policyScheme, .policyHost, .policyPort, .policyAddress, .policyRedirect, .policyAttachments, .tlsCertificate, .connectProxy,
      .payloadMaximum, .sizeImage, .sizeAudio, .sizeVideo, .sizeLimit, .sizePixels:
      true
    case .deadline, .cancelled, .payloadJSON, .payloadSize, .payloadEnriched, .payloadEnvelope, .payloadAlert, .payloadIdentifier,
      .payloadLazy, .policyURL,
      .policyUserinfo, .policyBreaker, .dnsNotFound, .dnsFailed, .dnsTimeout, .connectRefused, .connectFailed, .connectReset, .tlsHost,
      .tlsVersion, .tlsHandshake, .httpStatus, .httpProtocol, .httpHeaders, .httpFraming, .httpEncoding, .httpTruncated, .httpRedirect,
      .sizeEmpty, .typeUnknown, .typeUnsupported, .typeBroken, .typeDetector, .fetchCrashed, .storeFull, .storeReadOnly, .storeFailed,
      .queueExpired, .queuePoison, .internal:
      false
    }
  }
}
