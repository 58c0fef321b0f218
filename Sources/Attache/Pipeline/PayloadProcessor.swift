/// What becomes of a payload, from its bytes to the decision: read, served by the service
/// extension, decided. The filter, a queue's worker and the inspection all go this way.
final class PayloadProcessor: Sendable {
  private let configuration: Filter.Configuration
  private let maker: LineEnricher
  let host: ServiceExtensionHost
  /// The host's clock, where it can say that it is behind.
  private let pace: (any MachineClock)?

  /// - Parameters:
  ///   - host: serves the candidates.
  ///   - store: where the attachments are; they are unpinned when their decision is gone.
  init(_ configuration: Filter.Configuration, host: ServiceExtensionHost, store: AttachmentStore) {
    (self.configuration, self.host) = (configuration, host)
    maker = LineEnricher(configuration, store: store)
    pace = host.clock as? any MachineClock
  }

  /// Makes what reads the payloads, for one thread.
  ///
  /// - Throws: ``SystemError`` when there is no memory for a parser.
  func makeReader() throws(SystemError) -> PayloadReader {
    let reader = PayloadReader(
      outputKey: configuration.outputKey, payloadPath: configuration.payloadPath, dialects: configuration.dialects,
      appliesOverrides: configuration.appliesOverrides)
    try reader.checkMemory()
    return reader
  }

  /// To be called before the deadline of new payloads is set: what is due goes before what is new.
  func waitUntilPunctual() {
    pace?.waitUntilPunctual()
  }

  /// Has the payloads of a line served, and decides about the line.
  ///
  /// - Parameters:
  ///   - payloads: in their order.
  ///   - identifier: of the requests that the extension is given.
  ///   - deadline: when it must be decided, its writing included.
  ///   - decided: called exactly once, before the deadline, on any thread.
  func serve(
    _ payloads: [Payload], identifier: String, deadline: MonotonicInstant, decided: @escaping @Sendable (Decision) -> Void
  ) {
    host.run(NotificationRequest.all(identifier, payloads, deadline: deadline)) { [self] deliveries in
      decided(maker.decision(deliveries, on: payloads))
    }
  }
}
