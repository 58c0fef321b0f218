/// Processes a payload from its bytes to the decision: parses it and serves it with the service
/// extension. The filter, a queue's worker and the inspection all use it.
package final class PayloadProcessor: Sendable {
  private let configuration: FilterConfiguration
  private let maker: LineEnricher
  let host: ServiceExtensionHost

  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: the store of the attachments. They are unpinned when their decision is released.
  package init(_ configuration: FilterConfiguration, host: ServiceExtensionHost, store: AttachmentStore) {
    (self.configuration, self.host) = (configuration, host)
    maker = LineEnricher(configuration, store: store)
  }

  /// Creates a reader of payloads for one thread.
  ///
  /// - Throws: ``SystemError`` if there is no memory for a parser.
  func makeReader() throws(SystemError) -> PayloadReader {
    let reader = PayloadReader(
      outputKey: configuration.outputKey, payloadPath: configuration.payloadPath, dialects: configuration.dialects,
      appliesOverrides: configuration.appliesOverrides, publicURL: configuration.rewritingURL)
    try reader.checkMemory()
    return reader
  }

  /// Creates the reader of the report's key; nil if the report has none.
  ///
  /// - Throws: ``SystemError`` if there is no memory for a parser.
  func makeReportKey() throws(SystemError) -> ReportKey? {
    guard let place = configuration.reportKey else { return nil }
    return try ReportKey(place)
  }

  /// Serves the payloads of a line and decides the line.
  ///
  /// - Parameters:
  ///   - payloads: the line's candidates, in order.
  ///   - line: the line, in memory of its own.
  ///   - identifier: the identifier of the requests that the extension receives.
  ///   - deadline: the time by which it must be decided, including its writing.
  ///   - decided: called exactly once, before the deadline, on any thread.
  package func serve(
    _ payloads: [Payload], of line: Segment, identifier: String, deadline: MonotonicInstant, decided: @escaping @Sendable (Decision) -> Void
  ) {
    host.run(NotificationRequest.all(identifier, payloads, of: line, deadline: deadline)) { [self] deliveries in
      decided(maker.decision(deliveries, on: payloads, of: line))
    }
  }
}

/// Combines the host's results for each payload of a line into the decision about the line.
struct LineEnricher: Sendable {
  private let member: AttachmentMember
  /// The addresses that replace the URLs of attached media; nil keeps the URLs.
  private let address: StoreAddress?
  private let addsMember: Bool
  private let maximum: PayloadMaximum
  private let fits: Bool
  private let hasPublicAddresses: Bool
  private let store: AttachmentStore

  /// - Parameter store: the store of the attachments. They are unpinned when their decision is
  ///   released.
  init(_ configuration: FilterConfiguration, store: AttachmentStore) {
    member = AttachmentMember(key: configuration.outputKey, baseURL: configuration.baseURL ?? store.baseURL)
    address = configuration.rewritingURL.map(StoreAddress.init)
    addsMember = address == nil || configuration.attachAs == .both
    (maximum, fits, hasPublicAddresses) = (configuration.maximumPayload, configuration.fitsPayload, configuration.baseURL != nil)
    self.store = store
  }

  /// Returns the decision about a line: attached if at least one of its payloads gets attachments
  /// or changed content.
  ///
  /// - Parameters:
  ///   - deliveries: one result per payload, in their order.
  ///   - payloads: the line's candidates.
  ///   - line: the line.
  func decision(_ deliveries: [ExtensionResult], on payloads: [Payload], of line: Segment) -> Decision {
    var decision = Decision(outcome: .passthrough)
    var enriched: [Payload.Enriched] = []
    for (index, delivery) in deliveries.enumerated() {
      decision.dialect = decision.dialect ?? payloads[index].dialect
      decision.media += delivery.media
      decision.omitted += payloads[index].omitted
      let files = delivery.content?.attachments.map(\.file) ?? []
      switch enrich(payloads[index], with: delivery.content, in: line) {
      case .unchanged: decision.reason = decision.reason ?? delivery.reason
      case .enriched(let payload, let changed, let cut):
        enriched.append(payload)
        decision.payloadCount = payload.payloadCount
        decision.files += files
        decision.changed += changed.filter { !decision.changed.contains($0) }
        if let cut { decision.bodyCut = decision.bodyCut.map { $0 + cut } ?? cut }
      case .refused(let reason, let excess):
        decision.payloadCount = excess?.size
        if payloads.count > 1 { decision.refuse(last: delivery.media.count, for: reason) }
        for file in files { store.unpin(file) }
        if decision.reason == nil { (decision.reason, decision.cause) = (reason, excess.map(LineCause.tooLarge)) }
      }
    }
    guard !enriched.isEmpty else {
      if decision.reason != nil {
        decision.outcome = .fallback
      } else {
        (decision.reason, decision.cause) = payloads.reasonToPass
      }
      return decision
    }
    (decision.outcome, decision.reason, decision.cause) = (.attached, nil, payloads.first?.unopened.map(LineCause.envelope))
    decision.form = enriched.count == 1 ? enriched[0].form : .edited(enriched.flatMap(\.allEdits))
    decision.onRelease = { [store, files = decision.files] in
      for file in files { store.unpin(file) }
    }
    return decision
  }

  /// The result for one payload of a line.
  private enum Enrichment {
    case unchanged
    /// - Parameters:
    ///   - changed: the JSON pointers of the members that the service extension changed.
    ///   - cut: what was cut from the body; nil for nothing.
    case enriched(Payload.Enriched, changed: [String], cut: BodyCut? = nil)
    /// The original must be delivered.
    ///
    /// - Parameter excess: the sizes of a payload that exceeds its limit.
    case refused(Reason, PayloadExcess? = nil)
  }

  private func enrich(_ payload: Payload, with content: NotificationContent?, in line: Segment) -> Enrichment {
    guard let content else { return .unchanged }
    guard let changes = changes(of: payload, to: content, in: line) else { return .refused(.extensionContent) }
    let isAttached = !content.attachments.isEmpty
    guard isAttached || !changes.isEmpty else { return .unchanged }
    let edit = isAttached ? changes.over(payload.overrides) : changes
    let enriched: Payload.Enriched
    do throws(Refusal) { enriched = try self.enriched(payload, edit, changes, content.attachments, in: line) } catch {
      return .refused(error.reason)
    }
    // If only what other devices read has changed, Apple's payload is as its sender wrote it.
    let (before, after) = (payload.splice.payloadCount, enriched.payloadCount)
    guard let maximum = maximum(of: payload), after > maximum, after != before else {
      return .enriched(enriched, changed: changes.pointers)
    }
    if fits, let fit = payload.fitting(freeing: after - maximum, besides: edit, enriched.edits, in: line),
      let (fitted, cut) = apply(fit, to: enriched, of: payload, changes, content.attachments, in: line)
    {
      return .enriched(fitted, changed: changes.pointers, cut: cut)
    }
    let excess = PayloadExcess(size: after, before: before, maximum: maximum, hasMember: !enriched.member.isEmpty)
    return .refused(.payloadMaximum, excess)
  }

  /// Why a payload cannot have its attachments or its content.
  private struct Refusal: Error {
    let reason: Reason
  }

  /// Returns what changes for a payload, whatever its size.
  ///
  /// - Parameters:
  ///   - edit: all changes of its content.
  ///   - changes: those that must be made; the others are left out if they have no place.
  private func enriched(
    _ payload: Payload, _ edit: ContentEdit, _ changes: ContentEdit, _ attachments: [Attachment], in line: Segment
  ) throws(Refusal) -> Payload.Enriched {
    var enriched = Payload.Enriched(splice: payload.splice, edits: payload.edits, member: memberBytes(for: attachments, of: payload))
    let isRewritten = !attachments.isEmpty && address != nil
    guard !edit.isEmpty || isRewritten else { return enriched }
    var edited = payload
    if !edit.isEmpty {
      // An override that has no place is left out.
      let isApplied = edited.apply(edit, in: line)
      let limit = max(ContentEdit.maximumPayload, payload.splice.payloadCount)
      guard changes.isEmpty || (isApplied && edited.splice.payloadCount <= limit) else { throw Refusal(reason: .extensionContent) }
    }
    if isRewritten, let address {
      let isReplaced = edited.apply(MediaEdit(attachments, of: payload, at: address), in: line)
      guard isReplaced || !enriched.member.isEmpty || !changes.isEmpty else { throw Refusal(reason: .payloadPlace) }
    }
    (enriched.splice, enriched.edits) = (edited.splice, edited.edits)
    return enriched
  }

  /// Returns what changes for a payload whose body is cut; nil if the line has no place for the cut.
  private func apply(
    _ fit: BodyFit, to enriched: Payload.Enriched, of payload: Payload, _ changes: ContentEdit, _ attachments: [Attachment],
    in line: Segment
  ) -> (Payload.Enriched, BodyCut)? {
    var fitted = enriched
    switch fit {
    case .edits(let edits, let cut):
      fitted.edits += edits
      fitted.splice.payloadCount -= cut.freed
      return (fitted, cut.sizes)
    case .content(let edit, let cut):
      var probe = payload
      guard probe.apply(edit, in: line) else { return nil }
      do { fitted = try self.enriched(payload, edit, changes, attachments, in: line) } catch { return nil }
      // A body that a service copies from its message counts once, although the alert repeats it.
      fitted.splice.payloadCount = enriched.splice.payloadCount - cut.freed
      return (fitted, cut.sizes)
    }
  }

  /// Returns the size that a payload may have with its attachments; nil if there is no limit.
  private func maximum(of payload: Payload) -> Int? {
    switch maximum {
    case .automatic: hasPublicAddresses ? payload.maximumSize : nil
    case .bytes(let bytes): bytes
    case .unlimited: nil
    }
  }

  /// Returns the member for the attachments that Apple's devices show; empty if there is none.
  private func memberBytes(for attachments: [Attachment], of payload: Payload) -> [UInt8] {
    guard addsMember, payload.place?.takesMember != false else { return [] }
    let others = payload.references.filter(\.isForOthers).map(\.url)
    let shown = others.isEmpty ? attachments : attachments.filter { !others.contains($0.source) }
    return shown.isEmpty ? [] : member.bytes(for: shown)
  }

  /// Returns what the service extension changed; nil if the line cannot have it.
  private func changes(of payload: Payload, to content: NotificationContent, in line: Segment) -> ContentEdit? {
    guard content.hasChanges else { return ContentEdit() }
    let changes = ContentEdit(from: payload.content(in: line).members, to: content.members)
    return changes?.changesUserInfo(member.key) == true ? nil : changes
  }
}

extension Payload {
  /// What changes in a line for a payload: the edits, and the member that it gets.
  fileprivate struct Enriched {
    var splice: Splice
    var edits: [LineEdit]
    /// Key, colon and value; empty for no member.
    var member: [UInt8]

    /// The size in bytes that APNs limits.
    var payloadCount: Int {
      member.isEmpty ? splice.payloadCount : splice.payloadLength(with: member.count)
    }

    /// All edits of the line.
    var allEdits: [LineEdit] {
      edits + (member.isEmpty ? [] : splice.edits(with: member))
    }

    /// The output form of the line if this is its only payload that changes.
    var form: Decision.Form {
      guard !member.isEmpty, edits.isEmpty, splice.twin == nil else { return .edited(allEdits) }
      return .spliced(member: splice.insertion(of: member), at: splice.offset)
    }
  }
}
