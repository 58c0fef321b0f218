/// Makes the decision about a line of what its host has delivered for each of its payloads.
struct LineEnricher: Sendable {
  private let member: AttachmentMember
  private let maximumPayload: Int?
  private let store: AttachmentStore

  /// - Parameter store: where the attachments are; they are unpinned when their decision is gone.
  init(_ configuration: Filter.Configuration, store: AttachmentStore) {
    member = AttachmentMember(key: configuration.outputKey, baseURL: configuration.baseURL ?? store.baseURL)
    maximumPayload = configuration.maximumPayload
    self.store = store
  }

  /// The decision about a line: attached when at least one of its payloads is.
  ///
  /// - Parameters:
  ///   - deliveries: one for each payload, in their order.
  ///   - payloads: the line's candidates.
  func decision(_ deliveries: [ExtensionResult], on payloads: [Payload]) -> Decision {
    var decision = Decision(form: .original, outcome: .passthrough)
    var members: [(payload: Payload, bytes: [UInt8])] = []
    for (delivery, payload) in zip(deliveries, payloads) {
      decision.dialect = decision.dialect ?? payload.dialect
      decision.media += delivery.media
      decision.omitted += payload.omitted
      let attachments = delivery.content?.attachments ?? []
      let bytes = attachments.isEmpty ? nil : self.bytes(for: attachments, in: payload)
      if let bytes {
        members.append((payload, bytes))
        decision.files += attachments.map(\.file)
      } else {
        decision.reason = decision.reason ?? (attachments.isEmpty ? delivery.reason : .payloadMaximum)
      }
    }
    guard !members.isEmpty else {
      if decision.reason != nil { decision.outcome = .fallback }
      return decision
    }
    (decision.outcome, decision.reason) = (.attached, nil)
    decision.form =
      members.count == 1 ? members[0].payload.form(with: members[0].bytes) : .edited(members.flatMap { $0.payload.edits(with: $0.bytes) })
    decision.onRelease = { [store, files = decision.files] in
      for file in files { store.unpin(file) }
    }
    return decision
  }

  /// The member; nil when the payload would be too large with it, and its attachments are let go.
  private func bytes(for attachments: [Attachment], in payload: Payload) -> [UInt8]? {
    let bytes = member.bytes(for: attachments)
    guard let maximumPayload, payload.splice.payloadLength(with: bytes.count) > maximumPayload else { return bytes }
    for attachment in attachments { store.unpin(attachment.file) }
    return nil
  }
}

extension Payload {
  /// How the line leaves when this is its only payload that gains the member.
  fileprivate func form(with member: [UInt8]) -> Decision.Form {
    guard edits.isEmpty, splice.twin == nil else { return .edited(edits(with: member)) }
    return .spliced(member: splice.insertion(of: member), at: splice.offset)
  }

  /// All that changes in the line.
  fileprivate func edits(with member: [UInt8]) -> [LineEdit] {
    edits + splice.edits(with: member)
  }
}
