package import Attache

/// Fetches the media of inspected payloads as the filter would, with the same extension and the
/// same time budget.
package final class InspectionFetcher {
  private let processor: PayloadProcessor
  private let deadline: Duration
  private let clock: MonotonicClock

  /// - Parameters:
  ///   - configuration: what an attached payload looks like.
  ///   - host: serves the payloads.
  ///   - store: the store of the attachments; the caller keeps ownership.
  ///   - clock: the host's clock.
  package init(_ configuration: FilterConfiguration, host: ServiceExtensionHost, store: AttachmentStore, clock: MonotonicClock) {
    processor = PayloadProcessor(configuration, host: host, store: store)
    deadline = configuration.deadline
    self.clock = clock
  }

  /// Fetches the media that the filter would follow, and records the result in each reference.
  ///
  /// - Throws: ``SystemError`` if no file descriptor is available for waiting.
  package func fetch(_ inspection: inout Inspection) throws(SystemError) {
    guard !inspection.isEnriched else { return }
    let followed = inspection.media.indices.filter { index in
      let medium = inspection.media[index]
      return medium.reference.role == .attachment && (inspection.runs || medium.isReplaced)
    }
    guard !followed.isEmpty, let sent = inspection.sent else { return }
    let decision = try run(
      sent.payload(inspection, followed.map { inspection.media[$0].reference }), Segment(copying: sent.json), inspection.line)
    (inspection.attachedSize, inspection.isTooLarge) = (decision.payloadCount, decision.reason == .payloadMaximum)
    var records = decision.media[...]
    for index in followed { inspection.media[index].take(&records) }
  }

  private func run(_ payload: Payload, _ line: Segment, _ number: Int) throws(SystemError) -> Decision {
    let signal = try clock.machine.makeWakeSignal()
    let decided = Mailbox<Decision?>(nil) { signal.ring() }
    processor.serve([payload], of: line, identifier: "\(number)", deadline: clock.now.advanced(by: deadline)) { decision in
      decided.change { $0 = decision }
    }
    let decision = decided.take(waitingFor: signal) { $0 }
    decision.onRelease?()
    return decision
  }
}
