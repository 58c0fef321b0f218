/// Makes a decision about a line of what its host has delivered.
struct DecisionMaker: Sendable {
  private let member: AttachmentMember
  private let maximumPayload: Int?
  private let store: AttachmentStore

  /// - Parameter store: where the attachments are; they are unpinned when their decision is gone.
  init(_ configuration: Filter.Configuration, store: AttachmentStore) {
    member = AttachmentMember(key: configuration.outputKey, baseURL: configuration.baseURL ?? store.baseURL)
    maximumPayload = configuration.maximumPayload
    self.store = store
  }

  func decision(_ delivery: Delivery, on payload: Payload) -> Decision {
    var decision = decide(delivery, on: payload)
    decision.omitted = payload.omitted
    return decision
  }

  private func decide(_ delivery: Delivery, on payload: Payload) -> Decision {
    guard let attachments = delivery.content?.attachments, !attachments.isEmpty else {
      return .original(delivery.reason, payload.dialect, delivery.media)
    }
    let letGo: @Sendable () -> Void = { [store] in
      for attachment in attachments { store.unpin(attachment.file) }
    }
    let bytes = member.bytes(for: attachments)
    if let maximumPayload, payload.splice.payloadLength(with: bytes.count) > maximumPayload {
      letGo()
      return .original(.payloadMaximum, payload.dialect, delivery.media)
    }
    return Decision(
      form: payload.form(with: bytes), outcome: .attached, dialect: payload.dialect, media: delivery.media, whenGone: letGo)
  }
}

extension Payload {
  /// How the line leaves with the member.
  fileprivate func form(with member: [UInt8]) -> Decision.Form {
    guard edits.isEmpty, splice.twin == nil else { return .edited(edits + splice.edits(with: member)) }
    return .spliced(member: splice.insertion(of: member), at: splice.offset)
  }
}

extension Decision {
  /// The original: a fallback when there is a reason.
  fileprivate static func original(_ reason: Reason?, _ dialect: String?, _ media: [MediaRecord]) -> Decision {
    Decision(form: .original, outcome: reason == nil ? .passthrough : .fallback, reason: reason, dialect: dialect, media: media)
  }
}
