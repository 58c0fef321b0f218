internal import Attache

/// The record of one run, sufficient to replay it.
package struct Recording: Sendable {
  package var lines: [String]
  package var endsWithLineFeed: Bool
  package var deadline: Duration
  package var grace: Duration?
  /// The flags of attache that a scenario may contain.
  package var flags: [String]
  /// The exchanges in the order in which they began.
  package var exchanges: [RecordedExchange]
  /// The DNS answers for each name, one per look-up.
  package var names: [String: [NameScript.Turn]]
  package var records: [ReportedLine]
  package var attachments: [Int: [GainedAttachment]]

  /// - Parameters:
  ///   - lines: the input.
  ///   - records: the report of the run.
  ///   - attachments: the attachments that each line gained, by line number.
  package init(
    lines: [String], endsWithLineFeed: Bool, deadline: Duration, grace: Duration?, flags: [String], exchanges: [RecordedExchange],
    names: [String: [NameScript.Turn]], records: [ReportedLine], attachments: [Int: [GainedAttachment]]
  ) {
    self.lines = lines
    self.endsWithLineFeed = endsWithLineFeed
    self.deadline = deadline
    self.grace = grace
    self.flags = flags
    self.exchanges = exchanges
    self.names = names
    self.records = records
    self.attachments = attachments
  }

  /// Returns the scenario that replays the recording.
  ///
  /// - Parameters:
  ///   - file: the path where the scenario will be stored.
  ///   - mediaFolder: the folder of its media, as the scenario names it; nil uses stand-ins of the
  ///     same type and size.
  /// - Returns: the scenario and the media to store next to it.
  package func scenario(file: String, mediaFolder: String?) -> (scenario: Scenario, media: [Medium]) {
    let origins = RecordedOrigins(exchanges)
    var library = RecordedMedia(folder: mediaFolder)
    var scenario = Scenario(
      name: ScenarioFolder.name(of: file), file: file, about: about, payloads: lines.map { origins.replacing(Placeholder.escaped($0)) })
    scenario.endsWithLineFeed = endsWithLineFeed
    scenario.origins = origins.scripts { exchange in exchange.steps(origins: origins, media: &library) }
    scenario.names = names.mapValues { NameScript($0.map(\.onLoopback)) }
    scenario.deadline = deadline
    scenario.grace = grace
    scenario.flags = flags.map(Placeholder.escaped)
    // The simulated machine has no converter.
    scenario.isReal = flags.contains("--convert")
    scenario.expectation.payloads = payloads
    scenario.expectation.requests = origins.requests
    return (scenario, library.kept)
  }

  private var about: String {
    let outcomes = Dictionary(grouping: records) { [$0.outcome.rawValue, $0.reason?.rawValue].compactMap(\.self).joined(separator: " ") }
    return "Recorded: " + outcomes.map { "\($1.count) \($0)" }.sorted().joined(separator: ", ") + "."
  }

  private var payloads: [ScenarioExpectation.OfPayload] {
    let expected = records.sorted { $0.line < $1.line }.map { record in
      ScenarioExpectation.OfPayload(
        outcome: record.outcome, reason: record.reason,
        attachments: attachments[record.line]?.map { ScenarioExpectation.OfAttachment(type: $0.type, size: $0.size) },
        media: record.media.isEmpty ? nil : record.media.map(\.reason))
    }
    return Set(expected).count == 1 ? [expected[0]] : expected
  }
}

extension NameScript.Turn {
  /// The same answer for the machine that replays it: every address becomes that of the origins.
  fileprivate var onLoopback: NameScript.Turn {
    guard case .addresses = answer else { return self }
    return NameScript.Turn(.addresses([.v4(0x7F00_0001)]), delay: delay)
  }
}
