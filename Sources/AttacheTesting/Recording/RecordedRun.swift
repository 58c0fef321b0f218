package import Attache
internal import FoundationEssentials
internal import Glibc

/// A run of the filter over standard input and output, observed by a recorder.
package final class RecordedRun: Sendable {
  private let configuration: EngineConfiguration
  private let recorder: Recorder
  private let store: AttachmentStore
  private let assembly: FilterAssembly
  private let report: URL
  private let input: TeeInput

  /// Opens the store and starts the engine.
  ///
  /// - Throws: ``StoreError`` when the store cannot be opened, ``StartError`` when the engine
  ///   cannot be started.
  package init(_ configuration: EngineConfiguration, recorder: Recorder) throws {
    self.recorder = recorder
    store = try AttachmentStore(configuration.store)
    report = FileManager.default.temporaryDirectory.appending(path: "attache-record-\(UUID().uuidString)")
    var configuration = configuration
    configuration.filter.report = configuration.filter.report ?? report.path(percentEncoded: false)
    self.configuration = configuration
    assembly = try FilterAssembly(
      configuration, store: store, network: recorder.watching(TransferWatch.watching(.real(configuration.fetching))))
    input = try TeeInput(of: STDIN_FILENO)
  }

  /// Stops reading the input. Payloads in flight are still decided normally.
  package func stop() {
    assembly.filter.stop()
  }

  /// Stops reading the input, and decides payloads in flight with the original.
  package func cancel() {
    assembly.filter.cancel()
  }

  /// Runs to the end of the input, on its own thread.
  package func finished() async throws -> Filter.Result {
    defer {
      assembly.engine.shutdown()
      store.shutdown()
    }
    return try await RehearsalThread.run { [self] in
      Result { () throws(FilterFailure) in try assembly.filter.run(input: input.descriptor, output: STDOUT_FILENO) }
    }.get()
  }

  /// Returns the recording of the run.
  ///
  /// - Parameter flags: attache's flags for the scenario.
  package func recording(flags: [String]) throws -> Recording {
    defer { try? FileManager.default.removeItem(at: report) }
    let bytes = try Data(contentsOf: URL(filePath: configuration.filter.report ?? ""))
    let records = try ReportedLine.read([UInt8](bytes))
    var attachments: [Int: [GainedAttachment]] = [:]
    for record in records where record.outcome == .attached { attachments[record.line] = record.gained }
    var (lines, endsWithLineFeed) = input.lines
    lines = Array(lines.prefix(records.count))
    endsWithLineFeed = endsWithLineFeed || lines.count > records.count
    return Recording(
      lines: lines, endsWithLineFeed: endsWithLineFeed, deadline: configuration.filter.deadline,
      grace: configuration.grace, flags: flags, exchanges: recorder.exchanges, names: recorder.names, records: records,
      attachments: attachments)
  }
}

extension ReportedLine {
  /// The attachments of a line, according to its report.
  fileprivate var gained: [GainedAttachment] {
    media.filter { $0.reason == nil }.compactMap { medium in
      medium.type.map { GainedAttachment(url: medium.url, type: $0, size: medium.convertedSize ?? medium.bytes, sha256: "") }
    }
  }
}
