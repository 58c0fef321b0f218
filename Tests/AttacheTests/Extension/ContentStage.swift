@testable import Attache

/// Decides lines whose content a service extension changes, without threads and clock.
struct ContentStage {
  private let folder = AttachmentStoreTestFolder()
  let store: AttachmentStore

  init() throws {
    store = try folder.store()
  }

  /// Returns the decision about a line if `change` is applied to the content of each payload.
  func decide(
    _ line: String, path: JSONPointer? = nil, attachments: [Attachment] = [],
    configure: (inout Attache.FilterConfiguration) -> Void = { _ in }, change: (inout NotificationContent) -> Void
  ) -> Decision {
    var configuration = Attache.FilterConfiguration()
    configure(&configuration)
    let payloads = PayloadReader(payloadPath: path).read(line).candidates
    let deliveries = payloads.map { payload in
      var content = payload.content(of: line)
      content.attachments = attachments
      change(&content)
      return ExtensionResult.content(content)
    }
    return LineEnricher(configuration, store: store).decision(deliveries, on: payloads, of: Segment(line))
  }

  /// Returns the line with changed content; nil if the original is written.
  func change(_ line: String, path: JSONPointer? = nil, _ change: (inout NotificationContent) -> Void) -> String? {
    let decision = decide(line, path: path, change: change)
    return decision.outcome == .attached ? decision.text(of: line) : nil
  }
}

extension Decision {
  /// The bytes to write for a line.
  func text(of line: String) -> String {
    switch form {
    case .original: line
    case .spliced(let member, let place): String(decoding: LineEdit.apply([LineEdit(place..<place, member)], to: line.utf8), as: UTF8.self)
    case .edited(let edits): String(decoding: LineEdit.apply(edits, to: line.utf8), as: UTF8.self)
    }
  }
}
