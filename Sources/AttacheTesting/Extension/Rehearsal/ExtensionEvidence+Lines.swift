internal import Attache

/// What people see of each notification, before and after.
extension ExtensionEvidence {
  /// The most bytes of files that are kept for a page of notifications.
  private static let maximumMedia = 20_000_000

  /// Finds what is shown, and keeps the files, before their store is removed.
  mutating func keepShown(of store: AttachmentStore, in folder: String) {
    var room = Self.maximumMedia
    for index in requests.indices {
      let files = requests[index].attached.map { try? $0.file.get() }
      guard let answer = requests[index].answer, !requests[index].isUnanswered else { continue }
      requests[index].shown = answer.applied(to: requests[index].payload, files: files, in: store)
      for case let file? in files where media[file.relativePath] == nil && file.size <= room {
        room -= file.size
        media[file.relativePath] = StageFolder.bytes(at: "\(folder)/\(file.relativePath)")
      }
    }
  }

  var lines: [ScenarioResult.Lines] {
    requests.map { ScenarioResult.Lines(before: $0.payload, after: $0.shown ?? $0.payload) }
  }

  /// The outcome of each notification, as the filter would report it.
  var outcomes: [ScenarioResult.OfPayload] {
    requests.enumerated().map { index, request in
      guard request.shown == nil else { return .init(line: index + 1, outcome: .attached) }
      let refusal = request.attached.lazy.compactMap { attached in
        if case .failure(let failure) = attached.file { failure.reason } else { nil }
      }.first
      let reason: Reason? =
        if request.isCrashed { deaths.contains(where: \.isForMemory) ? .extensionMemory : .extensionCrash } else {
          request.isUnanswered ? .deadline : refusal
        }
      return .init(line: index + 1, outcome: reason == nil ? .passthrough : .fallback, reason: reason)
    }
  }
}
