/// Combines the host's results for each payload of a line into the decision about the line.
struct LineEnricher: Sendable {
  private let member: AttachmentMember
  private let maximumPayload: Int?
  private let store: AttachmentStore

  /// - Parameter store: the store of the attachments. They are unpinned when their decision is
  ///   released.
  init(_ configuration: Filter.Configuration, store: AttachmentStore) {
    member = AttachmentMember(key: configuration.outputKey, baseURL: configuration.baseURL ?? store.baseURL)
    maximumPayload = configuration.maximumPayload
    self.store = store
  }

  /// Returns the decision about a line: attached if at least one of its payloads is.
  ///
  /// - Parameters:
  ///   - deliveries: one result per payload, in their order.
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

  /// Returns the member. Returns nil and unpins the attachments if the payload would be too large
  /// with it.
  private func bytes(for attachments: [Attachment], in payload: Payload) -> [UInt8]? {
    let bytes = member.bytes(for: attachments)
    guard let maximumPayload, payload.splice.payloadLength(with: bytes.count) > maximumPayload else { return bytes }
    for attachment in attachments { store.unpin(attachment.file) }
    return nil
  }
}

extension Payload {
  /// Returns the output form of the line if this is its only payload that gets the member.
  fileprivate func form(with member: [UInt8]) -> Decision.Form {
    guard edits.isEmpty, splice.twin == nil else { return .edited(edits(with: member)) }
    return .spliced(member: splice.insertion(of: member), at: splice.offset)
  }

  /// Returns all edits of the line.
  fileprivate func edits(with member: [UInt8]) -> [LineEdit] {
    edits + splice.edits(with: member)
  }
}
