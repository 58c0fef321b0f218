internal import Synchronization

/// Fetches the media of inspected payloads as the filter would: by the same extension, on the same budget.
package final class InspectionFetcher {
  private let host: ServiceExtensionHost
  private let store: AttachmentStore
  private let deadline: Duration
  private let machine: any Machine

  /// - Parameters:
  ///   - store: stays the caller's.
  ///   - deadline: the budget of a payload.
  ///   - makeExtension: makes what serves a payload.
  package init(
    store: AttachmentStore, clock: any DeadlineClock, deadline: Duration, grace: Duration,
    makeExtension: @escaping @Sendable () -> MediaExtension
  ) {
    (self.store, self.deadline) = (store, deadline)
    machine = clock.machineBehind
    host = ServiceExtensionHost(clock: clock, grace: grace, makeExtension: makeExtension)
  }

  /// Fetches what the filter would follow, and notes in each reference what became of it.
  ///
  /// - Throws: ``SystemError`` when the system gives no descriptor to wait with.
  package func fetch(_ inspection: inout Inspection) throws(SystemError) {
    guard inspection.runs, !inspection.isEnriched else { return }
    let followed = inspection.media.indices.filter { inspection.media[$0].reference.role == .attachment }
    guard !followed.isEmpty else { return }
    var records = try run(inspection, followed.map { inspection.media[$0].reference })[...]
    for index in followed { inspection.media[index].take(&records) }
  }

  private func run(_ inspection: Inspection, _ references: [MediaReference]) throws(SystemError) -> [MediaRecord] {
    let payload = Payload(
      content: inspection.content, references: references, dialect: inspection.dialect, splice: Splice(payload: 0..<2, isEmptyObject: true))
    let request = NotificationRequest(
      identifier: "\(inspection.line)", payload: payload, deadline: machine.now.advanced(by: deadline))
    let delivered = Delivered(bell: try machine.makeBell())
    host.run(request) { delivered.take($0) }
    let delivery = delivered.wait()
    for attachment in delivery.content?.attachments ?? [] { store.unpin(attachment.file) }
    return delivery.media
  }
}

/// A delivery that somebody waits for.
private final class Delivered: Sendable {
  private let bell: any Bell
  private let delivery = Mutex<ExtensionResult?>(nil)

  init(bell: any Bell) {
    self.bell = bell
  }

  func take(_ delivery: ExtensionResult) {
    self.delivery.withLock { $0 = delivery }
    bell.ring()
  }

  func wait() -> ExtensionResult {
    while true {
      if let delivery = delivery.withLock({ $0 }) { return delivery }
      bell.wait(until: nil)
    }
  }
}
