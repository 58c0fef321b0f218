internal import Attache

/// A failure of this machine that affects every payload, such as a full disk. The worker pauses
/// instead of using up attempts.
struct MachineFault: Error, Equatable, Sendable {
  /// What failed, with its path and error number, and what to do. One line.
  var text: String

  init(_ reason: Reason, _ text: String) {
    self.text = "\(reason.rawValue): \(text)"
  }

  /// - Returns: nil for an error that affects one file only.
  init?(_ error: StoreError) {
    guard error.isOfMachine else { return nil }
    self.init(error.reason, "\(error)")
  }

  /// - Returns: nil for an error that ends the worker.
  init?(_ error: QueueError) {
    switch error {
    case .full(let text): self.text = text
    case .disk(let text, isReadOnly: true): self.text = "\(text); make its file system writable"
    case .disk(let text, isReadOnly: false): self.text = "\(text); check the disk (`dmesg` says more)"
    case .unavailable, .unknown, .locked, .system, .failed: return nil
    }
  }
}

extension Decision {
  /// The failure of the machine that caused the payload's fallback; nil when it did not fall back,
  /// or fell back for another reason.
  var machineFault: MachineFault? {
    guard outcome == .fallback else { return nil }
    return media.first(where: \.isOfMachine).map { MachineFault($0.reason ?? .internal, $0.explanation ?? "") }
  }
}
