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
