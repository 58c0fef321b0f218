package import Attache

/// Fetches the media of inspected payloads as the filter would, with the same extension and the
/// same time budget.
package final class InspectionFetcher {
  private let processor: PayloadProcessor
  private let deadline: Duration
  private let machine: any Machine

  /// - Parameters:
  ///   - host: serves the payloads.
  ///   - store: the store of the attachments; the caller keeps ownership.
  ///   - deadline: the time budget of a payload.
  package init(host: ServiceExtensionHost, store: AttachmentStore, deadline: Duration) {
    processor = PayloadProcessor(Filter.Configuration(), host: host, store: store)
    self.deadline = deadline
    machine = host.clock.machineBehind
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
    guard !followed.isEmpty else { return }
    var records = try run(inspection, followed.map { inspection.media[$0].reference })[...]
    for index in followed { inspection.media[index].take(&records) }
  }

  private func run(_ inspection: Inspection, _ references: [MediaReference]) throws(SystemError) -> [MediaRecord] {
    var payload = Payload(
      content: inspection.content, references: references, dialect: inspection.dialect, splice: Splice(payload: 0..<2, isEmptyObject: true))
    payload.wakesExtension = inspection.runs
    let line = Segment(copying: Array("{}".utf8))
    let signal = try machine.makeWakeSignal()
    let decided = Mailbox<Decision?>(nil) { signal.ring() }
    processor.serve([payload], of: line, identifier: "\(inspection.line)", deadline: machine.now.advanced(by: deadline)) { decision in
      decided.change { $0 = decision }
    }
    let decision = decided.take(waitingFor: signal) { $0 }
    decision.onRelease?()
    return decision.media
  }
}
