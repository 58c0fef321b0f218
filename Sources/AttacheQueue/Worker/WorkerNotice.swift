public import Attache

/// A message of a worker for its user.
public enum WorkerNotice: Sendable, CustomStringConvertible {
  /// The first payload that was not attached for this reason.
  ///
  /// - Parameter advice: how to process all payloads with this reason again, when different flags
  ///   would allow it; otherwise nil.
  case fellBack(Explanation, advice: String?)
  /// The machine fails, and the worker claims nothing. The text says what failed and what to do.
  /// Reported at most once a minute.
  ///
  /// - Parameter count: the pauses since the last report, including this one.
  case paused(String, count: Int)
  /// The worker claims payloads again. Reported only if the pause was reported.
  case resumed
  /// An operator has paused the queue; nil when that ends.
  case queuePaused(QueuePause?)
  /// The worker was stopped while the machine fails, and leaves payloads that it held without a
  /// result. The text says what failed and what to do.
  case left(String)

  /// The message in one line.
  public var description: String {
    switch self {
    case .fellBack(let explanation, let advice): "\(explanation)" + (advice.map { "; \($0)" } ?? "")
    case .paused(let text, let count):
      "paused: \(text); no payload is lost, and the worker tries again every \(WorkerConfiguration.pause.components.seconds) s"
        + (count > 1 ? " (paused \(count) times since the last such message)" : "")
    case .resumed: "the worker goes on"
    case .queuePaused(let pause): pause?.message("processed") ?? "the queue is no longer paused"
    case .left(let text): "payloads are left without a result: \(text)"
    }
  }

  /// Creates the message of a payload's fallback.
  ///
  /// - Parameter queue: the value of `--queue`; nil when the queue is removed at the end, so that
  ///   its payloads cannot be requeued.
  init(_ explanation: Explanation, queue: String?) {
    let advice =
      queue.map {
        "once the flags allow it, requeue the payloads that fell back: attache retry --queue \(Self.quoted($0)) --reason \(explanation.reason.rawValue)"
      } ?? "run the batch again with the flag that allows it, and a new output"
    self = .fellBack(explanation, advice: explanation.reason.dependsOnFlags ? advice : nil)
  }

  /// Quotes a word for a shell.
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
